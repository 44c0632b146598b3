import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as delay } from "node:timers/promises";
import type { PriceTable } from "../../cost/price-per-million.ts";
import { toErrorJson } from "../../domain/error-json.ts";
import { InputInvalid, PersonaCrashed } from "../../domain/errors.ts";
import type { Spend, Spent } from "../../domain/usage.ts";
import type { Probed } from "../../journal/durable-step.ts";
import type { FunctionContext, PersonaReturn } from "../../personas/function.ts";
import type { ToolArguments } from "../../personas/tools/tool-call.ts";
import { claimStrayError } from "../stray-errors.ts";
import { FunctionProcess } from "./function-process.ts";
import {
  type Ask,
  type FromChild,
  type FunctionPlace,
  fromThrown,
  MessageTooLong,
  mostBytes,
  type Outcome,
  type Thrown,
  toThrown,
  valueOf,
} from "./protocol.ts";

export interface Isolation {
  /** Of the whole process. */
  readonly memoryMb: number;
  readonly prices: PriceTable | undefined;
  /** Where updated prices are. */
  readonly stateDirectory?: string | undefined;
}

/** Time for a function to end by itself once its signal is aborted: less than the server waits for it. */
const graceMs = 1_000;
/** A function that asks for steps in an endless loop must not fill the memory of the server; `mostBytes` limits their size. */
const mostUnanswered = 10_000;

/**
 * One attempt of a function persona, in a process of its own. When this settles, no process of its group is running. A process
 * that the function started in a group or session of its own (`detached`) may outlive it.
 */
export async function runInChild(
  context: FunctionContext,
  place: FunctionPlace,
  isolation: Isolation,
): Promise<PersonaReturn> {
  return new IsolatedAttempt(context, place, isolation).run();
}

type InContext = ReturnType<typeof AsyncLocalStorage.snapshot>;

/** An effect that the child runs. */
interface RunningEffect {
  readonly within: InContext;
  readonly ran: PromiseWithResolvers<Outcome>;
}

class IsolatedAttempt {
  readonly #context: FunctionContext;
  readonly #place: FunctionPlace;
  readonly #isolation: Isolation;
  readonly #process: FunctionProcess;
  readonly #end = Promise.withResolvers<PersonaReturn>();
  /** The async context of the attempt: workspace and recorder know from it whose call it is. */
  readonly #within = AsyncLocalStorage.snapshot();
  readonly #effects = new Map<number, RunningEffect>();
  /** The context of an effect that has ended: the workspace refuses what comes too late. */
  #late: InContext | undefined;
  /** Steps under way; each resolves when it is settled. */
  readonly #steps = new Map<number, Promise<void>>();
  /** The answers to requests, by request. */
  readonly #failures = new Map<number, unknown>();
  readonly #spent = new Map<number, Spent>();
  readonly #priced = new Map<number, (spent: Spent) => void>();
  readonly #probed = new Map<number, PromiseWithResolvers<Outcome>>();
  readonly #waits = new Map<number, () => void>();
  /** For each request, the bytes that this process keeps for it until its answer is sent. */
  readonly #unanswered = new Map<number, number>();
  #keptBytes = 0;
  /** Set when the process has ended; the error is why, if the function did not end before it. */
  #ended: { readonly error: unknown } | undefined;

  constructor(context: FunctionContext, place: FunctionPlace, isolation: Isolation) {
    this.#context = context;
    this.#place = place;
    this.#isolation = isolation;
    this.#process = new FunctionProcess(place.persona, isolation.memoryMb);
  }

  async run(): Promise<PersonaReturn> {
    await this.#process.started();
    const gone = this.#process.gone().then((error) => this.#within(() => this.#failRunning(error)));
    this.#process.listen(
      (message, bytes) => this.#within(() => this.#hear(message, bytes)),
      (error) => this.#giveUp(error instanceof MessageTooLong ? this.#tooLarge() : error),
    );
    this.#begin();
    const { signal } = this.#context;
    const onAbort = (): void => void this.#abort(signal.reason);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    try {
      return await this.#end.promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#process.kill();
      await gone;
      for (const end of this.#waits.values()) end();
    }
  }

  #begin(): void {
    const { brief, context, notes, putBack } = this.#context;
    const { prices, stateDirectory } = this.#isolation;
    const failures = this.#context.failures.map(toErrorJson);
    const work = { ...this.#place, prices, stateDirectory, brief, context, notes, putBack, failures };
    this.#process.send({ kind: "begin", work });
  }

  #hear(message: FromChild, bytes: number): void {
    const { log, onText, progress, keepSecret, during } = this.#context;
    switch (message.kind) {
      case "ask":
        return this.#ask(message, bytes);
      case "ran":
        this.#keep(message.step, bytes);
        if (message.spent !== undefined) this.#spent.set(message.step, message.spent);
        return this.#effects.get(message.step)?.ran.resolve(message.outcome);
      case "probed":
        return this.#probed.get(message.step)?.resolve(message.outcome);
      case "priced":
        return this.#priced.get(message.step)?.(message.spent);
      case "wait": {
        if (message.isOver) return this.#waits.get(message.wait)?.();
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#waits.set(message.wait, resolve);
        return void during(() => promise);
      }
      case "log":
        return log(message.message);
      case "text":
        return onText(message.delta);
      case "progress":
        return progress();
      case "secrets":
        return keepSecret(message.secrets);
      case "stray":
        return void claimStrayError(fromThrown(message.error));
      case "returned":
        return this.#end.resolve(valueOf(message) as PersonaReturn);
      case "failed":
        return this.#end.reject(this.#restore(message.error));
    }
  }

  #ask({ request, within, ask }: Extract<FromChild, { readonly kind: "ask" }>, bytes: number): void {
    // Only a function that writes to the channel itself uses a number twice.
    if (this.#unanswered.has(request)) return;
    this.#unanswered.set(request, 0);
    if (this.#unanswered.size > mostUnanswered) return this.#giveUp(this.#tooMany());
    if (!this.#keep(request, bytes)) return;
    const effect = within === undefined ? this.#within : this.#effects.get(within)?.within;
    const inContext = effect ?? this.#late ?? this.#within;
    const answered = inContext(() => this.#answer(request, ask));
    const reply = (outcome: Outcome): void => {
      if ("body" in outcome && !this.#keep(request, outcome.body.length)) return;
      const sent = (): void => this.#release(request);
      if (ask.kind === "list") this.#process.answerNow(outcome, sent);
      else this.#process.send({ kind: "answer", request, outcome }, sent);
    };
    const settled = answered.then(
      (result) => reply({ body: JSON.stringify({ result }) }),
      (error: unknown) => {
        this.#failures.set(request, error);
        reply({ error: toThrown(error) });
      },
    );
    if (ask.kind !== "step" && ask.kind !== "model" && ask.kind !== "tool") return;
    this.#steps.set(
      request,
      settled.then(() => void this.#steps.delete(request)),
    );
  }

  /** False: the function is over its limit, and its process ends. */
  #keep(request: number, bytes: number): boolean {
    const kept = this.#unanswered.get(request);
    if (kept === undefined) return true;
    this.#unanswered.set(request, kept + bytes);
    this.#keptBytes += bytes;
    if (this.#keptBytes <= mostBytes) return true;
    this.#giveUp(this.#tooLarge());
    return false;
  }

  #release(request: number): void {
    this.#keptBytes -= this.#unanswered.get(request) ?? 0;
    this.#unanswered.delete(request);
  }

  /** `run` then ends the process. Until it is dead, it must not fill the memory of the server. */
  #giveUp(error: unknown): void {
    this.#process.stopListening();
    this.#end.reject(error);
  }

  async #answer(request: number, ask: Ask): Promise<unknown> {
    const { step, runStep, sleep, workspace } = this.#context;
    switch (ask.kind) {
      case "step": {
        const { name, input, dependency, effect, hasProbe } = ask;
        const options = {
          input,
          ...(dependency !== undefined && { dependency }),
          ...(effect !== undefined && { effect }),
          ...(hasProbe === true && { probe: () => this.#probe(request) }),
          // The child does not end at once when this process dies.
          processes: () => [this.#process.identity],
        };
        return step(name, () => this.#runEffect(request), options);
      }
      case "model": {
        const { kind, name, input, dependency, spend } = ask;
        return runStep({
          kind,
          name,
          input,
          ...(dependency !== undefined && { dependency }),
          ...(spend !== undefined && { spend: this.#spend(request, spend) }),
          effect: (allowedOutput) => this.#runEffect(request, allowedOutput),
        });
      }
      case "tool": {
        const tool = this.#context.tools[ask.name];
        if (tool === undefined) throw new InputInvalid(`There is no tool ${ask.name}.`);
        return tool.execute(ask.arguments, {
          runEffect: (args?: ToolArguments) => this.#runEffect(request, undefined, args),
        });
      }
      case "sleep":
        return sleep(Number(ask.ms));
      case "read":
        return (await workspace.read(ask.path)).toString("base64");
      case "readText":
        return workspace.readText(ask.path);
      case "write": {
        const { path, content, executable } = ask;
        const written = "text" in content ? content.text : Buffer.from(content.base64, "base64");
        return workspace.write(path, written, { executable });
      }
      case "remove":
        return workspace.remove(ask.path);
      case "move":
        return workspace.move(ask.from, ask.to);
      case "edit":
        return workspace.edit(ask.path, ask.edits);
      case "search":
        return workspace.search(ask.pattern, ask.glob);
      case "list":
        return workspace.list(ask.glob);
    }
  }

  async #runEffect(step: number, allowedOutput?: number, args?: ToolArguments): Promise<unknown> {
    const within = AsyncLocalStorage.snapshot();
    const ran = Promise.withResolvers<Outcome>();
    this.#effects.set(step, { within, ran });
    try {
      if (this.#ended !== undefined) throw this.#ended.error;
      this.#process.send({ kind: "run", step, allowedOutput, arguments: args });
      return valueOf(await ran.promise, this.#restore);
    } finally {
      this.#late = within;
      this.#effects.delete(step);
    }
  }

  async #probe(step: number): Promise<Probed<unknown>> {
    const probed = Promise.withResolvers<Outcome>();
    this.#probed.set(step, probed);
    try {
      if (this.#ended !== undefined) throw this.#ended.error;
      this.#process.send({ kind: "probe", step });
      return valueOf(await probed.promise) as Probed<unknown>;
    } finally {
      this.#probed.delete(step);
    }
  }

  /** An error that came from here is that error, so that the recorder knows it. */
  readonly #restore = (thrown: Thrown): unknown =>
    this.#failures.get(thrown.request ?? 0) ?? fromThrown(thrown);

  /** The child knows what its call cost. A call that it did not live to report may have cost anything. */
  #spend(
    step: number,
    { model, asked, atMost, output, prices }: NonNullable<Extract<Ask, { kind: "model" }>["spend"]>,
  ): Spend<unknown> {
    return {
      model,
      asked,
      ...(atMost !== undefined && { atMost }),
      ...(output !== undefined && { output }),
      ...(prices !== undefined && { prices }),
      spent: (outcome) => {
        const known = this.#spent.get(step);
        if (known !== undefined) return known;
        if (this.#ended !== undefined || "error" in outcome) return unknownCost;
        return new Promise((resolve) => {
          this.#priced.set(step, resolve);
          this.#process.send({ kind: "price", step, body: JSON.stringify({ result: outcome.result }) });
        });
      },
    };
  }

  /** A function that does not end by itself is killed. */
  async #abort(reason: unknown): Promise<void> {
    this.#process.send({ kind: "abort", reason: toThrown(reason) });
    const ended = this.#end.promise.then(ignored, ignored);
    await Promise.race([delay(graceMs, undefined, { ref: false }), ended]);
    this.#process.kill();
  }

  /** The process ended first: the effects that it ran fail, and then its attempt, in the outermost of their steps. */
  async #failRunning(crash: unknown): Promise<void> {
    const { signal } = this.#context;
    const error: unknown = signal.aborted ? signal.reason : crash;
    this.#ended = { error };
    for (const answer of this.#priced.values()) answer(unknownCost);
    for (const { reject } of this.#probed.values()) reject(error);
    const running = [...this.#effects];
    for (const [, { ran }] of running) ran.reject(error);
    await Promise.all(running.flatMap(([step]) => this.#steps.get(step) ?? []));
    const outermost = Math.min(...running.map(([step]) => step));
    this.#end.reject(this.#failures.get(outermost) ?? error);
  }

  #tooMany(): PersonaCrashed {
    const { persona } = this.#place;
    return new PersonaCrashed(`Persona "${persona}" asked for more than ${mostUnanswered} steps at once.`, {
      details: { end: { kind: "requests" } },
      advice: "Await steps before asking for more.",
    });
  }

  #tooLarge(): PersonaCrashed {
    const { persona } = this.#place;
    const limit = `${mostBytes / 1024 / 1024} MiB`;
    return new PersonaCrashed(`Persona "${persona}" sent or asked for more than ${limit} at once.`, {
      details: { end: { kind: "requests" } },
      advice: "Use smaller inputs and results, or await steps and file operations before asking for more.",
    });
  }
}

const ignored = (): void => undefined;
const unknownCost: Spent = { usage: null, costMicroUsd: null };
