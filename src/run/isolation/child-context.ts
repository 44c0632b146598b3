import { PriceFile } from "../../cost/price-file.ts";
import { Prices } from "../../cost/prices.ts";
import type { Contract } from "../../domain/contract.ts";
import { fromErrorJson } from "../../domain/error-json.ts";
import type { Json } from "../../domain/json.ts";
import { keepSecret } from "../../domain/redact.ts";
import type { Spend, Spent } from "../../domain/usage.ts";
import type { DurableStep } from "../../journal/durable-step.ts";
import { resultBody } from "../../journal/journal-codec.ts";
import { canonicalInput } from "../../journal/recorded-steps.ts";
import type { ModelPorts, PersonaContext, StepOptions } from "../../personas/function.ts";
import { publishedNames } from "../../personas/model/provider-table.ts";
import type { ContextTool } from "../../personas/tools/context-tool.ts";
import { describeTool } from "../../personas/tools/context-tools.ts";
import { builtIn } from "../../personas/tools/offered-tool.ts";
import {
  builtInNames,
  type OwnTools,
  ownNames,
  ownTool,
  type ToolChoice,
} from "../../personas/tools/offered-tools.ts";
import { descriptionOf, executeOwnTool } from "../../personas/tools/own-tool.ts";
import type { ToolArguments } from "../../personas/tools/tool-call.ts";
import { Pending } from "../control.ts";
import type { ChildChannel } from "./child-channel.ts";
import { type ChildWork, type Outcome, type ToChild, valueOf } from "./protocol.ts";

/** A step that the parent has not settled yet. */
interface AskedEffect {
  readonly name: string;
  readonly dependency: string | undefined;
  readonly effect: (allowedOutput?: number, edited?: ToolArguments) => unknown;
  readonly spend: Spend<unknown> | undefined;
  readonly probe: StepOptions["probe"];
}

const progressMs = 250;

/** The tools of the persona, as its team file has them. */
export interface ChildTools {
  readonly persona: string;
  readonly choice: ToolChoice | undefined;
  readonly own: OwnTools;
  readonly contract: Contract;
}

/** The `ctx` of a function in its own process. */
export class ChildContext {
  readonly #channel: ChildChannel;
  readonly #effects = new Map<number, AskedEffect>();
  readonly #pending = new Pending();
  readonly #abort = new AbortController();
  #waits = 0;
  #progressAt = 0;

  constructor(channel: ChildChannel) {
    this.#channel = channel;
  }

  abort(reason: unknown): void {
    this.#abort.abort(reason);
  }

  /** All steps are done, and none follows. */
  settle(): Promise<void> {
    return this.#pending.settle();
  }

  async run({
    step,
    allowedOutput,
    arguments: edited,
  }: Extract<ToChild, { readonly kind: "run" }>): Promise<void> {
    const asked = this.#effects.get(step);
    if (asked === undefined) return;
    const { name, dependency, effect, spend } = asked;
    let end: { readonly result: unknown } | { readonly error: unknown };
    let outcome: Outcome;
    try {
      end = { result: await this.#channel.runEffect(step, () => effect(allowedOutput, edited)) };
    } catch (error) {
      end = { error };
    }
    try {
      if ("error" in end) throw end.error;
      outcome = { body: resultBody(end.result, name) };
    } catch (error) {
      outcome = { error: this.#channel.thrown(error, dependency) };
    }
    // A result that cannot be recorded is paid for like any other.
    this.#channel.send({ kind: "ran", step, outcome, spent: await spend?.spent(end) });
  }

  async price({ step, body }: Extract<ToChild, { readonly kind: "price" }>): Promise<void> {
    const spent: Spent | undefined = await this.#effects
      .get(step)
      ?.spend?.spent({ result: valueOf({ body }) });
    this.#channel.send({ kind: "priced", step, spent: spent ?? { usage: null, costMicroUsd: null } });
  }

  async probe({ step }: Extract<ToChild, { readonly kind: "probe" }>): Promise<void> {
    let outcome: Outcome;
    try {
      outcome = { body: resultBody(await this.#effects.get(step)?.probe?.(), "probe") };
    } catch (error) {
      outcome = { error: this.#channel.thrown(error) };
    }
    this.#channel.send({ kind: "probed", step, outcome });
  }

  of(
    { brief, context, failures, notes, putBack, prices: table, stateDirectory }: ChildWork,
    tools: ChildTools,
  ): PersonaContext & ModelPorts {
    const channel = this.#channel;
    const prices = new Prices(table, {
      file: stateDirectory === undefined ? undefined : new PriceFile(stateDirectory),
      names: publishedNames,
    });
    return {
      brief,
      context,
      failures: failures.map(fromErrorJson),
      notes,
      putBack,
      signal: this.#abort.signal,
      workspace: this.#workspace(),
      tools: this.#tools(tools),
      step: this.#step,
      runStep: this.#runStep,
      sleep: (ms) =>
        this.#pending.track(channel.ask({ kind: "sleep", ms: String(ms) }) as Promise<undefined>),
      // Code without types may log anything.
      log: (message: unknown) => channel.send({ kind: "log", message: String(message) }),
      onText: (delta) => channel.send({ kind: "text", delta }),
      progress: () => this.#progress(),
      during: (work) => this.#during(work),
      priceOf: (model) => prices.of(model),
      keepSecret: (secrets) => {
        keepSecret(secrets);
        channel.send({ kind: "secrets", secrets });
      },
    };
  }

  readonly #step: PersonaContext["step"] = <T>(
    name: string,
    effect: () => T | Promise<T>,
    { input = null, dependency, effect: sort, probe }: StepOptions = {},
  ) =>
    this.#ask<T>(
      "step",
      { kind: "model", name, input, effect, ...(dependency !== undefined && { dependency }) },
      { ...(sort !== undefined && { effect: sort }), probe },
    );

  /** Only `durableModel` calls it. */
  readonly #runStep: ModelPorts["runStep"] = (step) => this.#ask("model", step);

  #ask<T>(kind: "step" | "model", step: DurableStep<T>, options: StepOptions = {}): Promise<T> {
    // Tracked: a rejected step that the function does not await must not end the process.
    return this.#pending.track(this.#asked(kind, step, options));
  }

  async #asked<T>(
    kind: "step" | "model",
    { name, input, dependency, effect, spend }: DurableStep<T>,
    { effect: sort, probe }: StepOptions,
  ): Promise<T> {
    // Refused here, because the parent would see the JSON of it.
    if (input !== null) canonicalInput(name, input);
    const price = spend && {
      model: spend.model,
      asked: spend.asked,
      atMost: spend.atMost,
      output: spend.output,
      prices: spend.prices,
    };
    const asked = { name, dependency, effect, spend: spend as Spend<unknown> | undefined, probe };
    let request = 0;
    try {
      const once = { effect: sort, ...(typeof probe === "function" && { hasProbe: true as const }) };
      const ask = {
        name,
        input,
        dependency,
        ...(kind === "model" ? { kind, spend: price } : { kind, ...once }),
      };
      return (await this.#channel.ask(ask, (number) => {
        request = number;
        this.#effects.set(number, asked);
      })) as T;
    } finally {
      this.#effects.delete(request);
    }
  }

  /** The parent has the files and the record; the code of own tools is here. */
  #tools({ choice, own, contract, persona }: ChildTools): PersonaContext["tools"] {
    const builtIns = builtInNames(choice).flatMap((name): [string, ContextTool][] => {
      const tool = builtIn(name, contract);
      if (tool.run === undefined) return [];
      return [[name, { ...describeTool(tool), execute: (input) => this.#askTool(name, input) }]];
    });
    const others = ownNames(choice).map((name): [string, ContextTool] => {
      const one = ownTool(persona, name, own);
      const execute = (input: unknown): Promise<unknown> =>
        this.#askTool(name, input, (_, edited) =>
          executeOwnTool(name, one, edited ?? input, this.#abort.signal),
        );
      return [name, { ...one, description: descriptionOf(one), execute }];
    });
    return Object.fromEntries([...builtIns, ...others]);
  }

  #askTool(name: string, input: unknown, effect?: AskedEffect["effect"]): Promise<unknown> {
    const args = (JSON.parse(JSON.stringify(input ?? {})) ?? {}) as Json;
    let request = 0;
    const asked = this.#channel.ask({ kind: "tool", name, arguments: args }, (number) => {
      request = number;
      if (effect !== undefined)
        this.#effects.set(number, {
          name,
          dependency: undefined,
          effect,
          spend: undefined,
          probe: undefined,
        });
    });
    return this.#pending.track(asked.finally(() => this.#effects.delete(request)));
  }

  #workspace(): PersonaContext["workspace"] {
    const channel = this.#channel;
    return {
      read: async (path) => Buffer.from((await channel.ask({ kind: "read", path })) as string, "base64"),
      readText: async (path) => (await channel.ask({ kind: "readText", path })) as string,
      write: async (path, content, options?: { readonly executable?: boolean | undefined }) => {
        const bytes = typeof content === "string" ? undefined : Buffer.from(content).toString("base64");
        const sent = bytes === undefined ? { text: content as string } : { base64: bytes };
        await channel.ask({ kind: "write", path, content: sent, executable: options?.executable });
      },
      remove: async (path) => {
        await channel.ask({ kind: "remove", path });
      },
      move: async (from, to) => {
        await channel.ask({ kind: "move", from, to });
      },
      edit: async (path, edits) =>
        (await channel.ask({ kind: "edit", path, edits })) as Awaited<
          ReturnType<PersonaContext["workspace"]["edit"]>
        >,
      list: (glob) => channel.askNow({ kind: "list", glob }) as readonly string[],
      search: async (pattern, glob) =>
        (await channel.ask({ kind: "search", pattern, glob })) as Awaited<
          ReturnType<PersonaContext["workspace"]["search"]>
        >,
    };
  }

  /** Each part of an answer is progress; the parent need not hear of all. */
  #progress(): void {
    const now = performance.now();
    if (now - this.#progressAt < progressMs) return;
    this.#progressAt = now;
    this.#channel.send({ kind: "progress" });
  }

  async #during<T>(work: () => Promise<T>): Promise<T> {
    this.#waits += 1;
    const wait = this.#waits;
    this.#channel.send({ kind: "wait", wait, isOver: false });
    try {
      return await work();
    } finally {
      this.#channel.send({ kind: "wait", wait, isOver: true });
    }
  }
}
