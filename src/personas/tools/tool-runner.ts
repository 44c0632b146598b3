import { canonicalJson } from "../../domain/canonical.ts";
import { GovernanceViolation, InputInvalid, MaestroError, RecoverableError } from "../../domain/errors.ts";
import { isJsonObject, type Json } from "../../domain/json.ts";
import { redact } from "../../domain/redact.ts";
import { changesBetween, type Tree, type TreeChange } from "../../domain/tree.ts";
import type { Asks, RunStep } from "../../journal/durable-step.ts";
import { argumentsOf } from "../../journal/waiting-call.ts";
import { namedMatcher } from "../../workspace/named-files.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { ServiceLost } from "../mcp/service-lost.ts";
import { raceAbort } from "../model/call-limits.ts";
import { StuckDetector } from "../model/loop-limits.ts";
import type { GovernedTool, PolicyDecision, ToolPolicy } from "../model/ports.ts";
import type { MustAsk } from "./approval-rules.ts";
import type { OfferedTool } from "./offered-tool.ts";
import type { ToolArguments, ToolDone } from "./tool-call.ts";
import type { ToolPorts } from "./tool-table.ts";

const maxRefusals = 3;
const maxErrorLength = 2000;

/**
 * The record of a tool call. The blobs that `changes` names must live as long as the record. A failure and a refusal
 * are sent to the model, so they are results.
 */
export type ToolOutcome =
  | ({ readonly kind: "done"; readonly changes: readonly TreeChange[] } & ToolDone)
  | { readonly kind: "failed"; readonly message: string }
  /** A person did not allow the call. */
  | { readonly kind: "rejected"; readonly note: string }
  | { readonly kind: "refused"; readonly reason: string };

interface ToolRunnerPorts extends ToolPorts {
  readonly runStep: RunStep;
  readonly policy: ToolPolicy;
  /** Whether a person has to approve the call first. */
  readonly mustAsk: MustAsk;
  /** Throws `InputInvalid` when the files have a change since then that the persona may not make. */
  readonly refuseProtected: (since: Tree) => Promise<void>;
}

/** Runs the tool calls of one attempt, one at a time, each as a durable step. */
export class ToolRunner {
  readonly stuck = new StuckDetector();
  readonly #ports: ToolRunnerPorts;
  #refusals = 0;
  #broken: { readonly error: unknown } | undefined;

  constructor(ports: ToolRunnerPorts) {
    this.#ports = ports;
  }

  /** The conversation must end. */
  get mustStop(): boolean {
    return this.#broken !== undefined || this.stuck.problem !== undefined;
  }

  /** Throws an error that ends the attempt instead of reaching the model. */
  throwIfBroken(): void {
    if (this.#broken !== undefined) throw this.#broken.error;
  }

  /** The model gets the message of an error that this throws. */
  async run(tool: OfferedTool, args: ToolArguments): Promise<Json> {
    // The other calls of the same answer come too; after the end of the attempt nothing may happen.
    this.throwIfBroken();
    const { name } = tool;
    const tree = this.#ports.files.hash;
    const outcome = await this.#record(tool, args, tree);
    if (outcome.kind === "done") {
      this.stuck.succeeded(name, args, tree, outcome.output);
      return outcome.value ?? outcome.output;
    }
    if (outcome.kind === "rejected") {
      const told = `A person did not allow this call: ${outcome.note}`;
      this.stuck.succeeded(name, args, tree, told);
      return told;
    }
    if (outcome.kind === "refused") throw this.#refused(name, outcome.reason);
    this.stuck.failed(name, args, tree, outcome.message);
    throw new Error(outcome.message);
  }

  async #record(tool: OfferedTool, args: ToolArguments, tree: string): Promise<ToolOutcome> {
    const { runStep, files, signal, policy } = this.#ports;
    const { name, reads } = tool;
    const dependency = dependencyOf(tool, args);
    const call = { tool: name, arguments: args };
    // A call that the policy refuses has no effect, and no person is asked about it.
    const isAllowed = policy.allow(tool, args).allowed;
    const isOnce = tool.effect === "once" && isAllowed;
    let effect = () => this.#perform(tool, args, isOnce);
    const asks = isAllowed
      ? this.#asks(tool, args, isOnce, (decided) => {
          effect = decided;
        })
      : undefined;
    try {
      const step = runStep<ToolOutcome>({
        kind: "tool",
        name,
        // An effect outside the files is the same one, whatever the files are when it is asked for again.
        input:
          isOnce || tool.asksPerson === true
            ? call
            : { ...call, tree, ...(reads !== undefined && { reads }) },
        ...(isOnce && { once: { call, resultOf: settledOf(args) } }),
        ...(asks !== undefined && { asks }),
        ...(dependency !== undefined && { dependency }),
        artifacts: artifactsOf,
        effect: () => effect(),
      });
      const outcome = await raceAbort(step, signal);
      // Where the step was replayed its effect did not happen again: the files are as it left them.
      if (outcome.kind === "done") files.reapply(outcome.changes);
      return outcome;
    } catch (error) {
      this.#broken ??= { error };
      throw error;
    }
  }

  /** Undefined: no person is asked. `change`: gets what is done instead of the call. */
  #asks(
    tool: OfferedTool,
    args: ToolArguments,
    isOnce: boolean,
    change: (effect: () => Promise<ToolOutcome>) => void,
  ): Asks<ToolOutcome> | undefined {
    const isQuestion = tool.asksPerson === true;
    if (!isQuestion && !this.#ports.mustAsk(tool.title, args)) return undefined;
    const { name, title } = tool;
    const same = {
      dependency: dependencyOf(tool, args),
      ...(isOnce && { once: { call: { tool: name, arguments: args }, resultOf: settledOf(args) } }),
    };
    // The call is not made: it needs no service and leaves nothing to settle.
    const without = (outcome: ToolOutcome) => {
      change(async () => outcome);
      return { dependency: undefined, once: undefined };
    };
    return {
      kind: isQuestion ? "question" : "call",
      call: { tool: title, arguments: args },
      decide: async (word) => {
        if (word.kind === "rejected") return without({ kind: "rejected", note: word.note });
        if (word.kind === "answered") return without({ kind: "done", output: word.text, changes: [] });
        const edited = word.arguments;
        if (edited === undefined) return same;
        const judged = await tool.judge(edited);
        if (!judged.success) return without(unfit(edited, judged.error.message));
        const decision = this.#ports.policy.allow(tool, judged.value);
        if (!decision.allowed) return without(unfit(edited, decision.reason));
        change(async () => withEdited(await this.#perform(tool, judged.value, isOnce), judged.value));
        const call = { tool: name, arguments: judged.value };
        const dependency = dependencyOf(tool, judged.value);
        return { dependency, ...(isOnce && { once: { call, resultOf: settledOf(args) } }) };
      },
    };
  }

  async #perform(tool: OfferedTool, args: ToolArguments, isOnce: boolean): Promise<ToolOutcome> {
    const { files, policy, refuseProtected, signal } = this.#ports;
    const decision = policy.allow(tool, args);
    if (!decision.allowed) return { kind: "refused", reason: decision.reason };
    try {
      const before = files.tree;
      const { result, changes } = await files.recordings.record(async () => {
        const done = (await tool.run?.(args, this.#ports)) ?? "";
        // Within the recording, so that a refused change is rolled back. By the change and not by the arguments: only the
        // content tells which members of a file differ.
        if (files.tree !== before) await refuseProtected(before);
        return done;
      });
      // Before the record names them: a blob that is not there cannot be applied again.
      await files.flush(changes);
      return { kind: "done", ...(typeof result === "string" ? { output: result } : result), changes };
    } catch (error) {
      signal.throwIfAborted();
      // The model must not try again what may have happened.
      if (isOnce || !isTold(error)) throw error;
      return { kind: "failed", message: messageOf(error) };
    }
  }

  #refused(tool: string, reason: string): Error {
    this.#refusals += 1;
    if (this.#refusals >= maxRefusals) {
      const error = new GovernanceViolation(
        `The persona kept on after ${this.#refusals} calls that the policy does not allow; the last: ${tool}: ${reason}`,
        { details: { tool, reason, refusals: this.#refusals } },
      );
      this.#broken ??= { error };
      return error;
    }
    return new Error(`Not allowed: ${reason}`);
  }
}

/** The result that a person gives for a call that happened, perhaps with arguments that a person had changed. */
const settledOf =
  (asked: ToolArguments) =>
  (given: Json | undefined, made: Json | undefined): ToolOutcome => {
    const output = typeof given === "string" ? given : given === undefined ? "" : JSON.stringify(given);
    const outcome: ToolOutcome = { kind: "done", output, changes: [] };
    const args = isJsonObject(made) ? argumentsOf(made) : asked;
    return canonicalJson(args) === canonicalJson(asked) ? outcome : withEdited(outcome, args);
  };

const dependencyOf = ({ dependency }: OfferedTool, args: ToolArguments): string | undefined =>
  typeof dependency === "function" ? dependency(args) : dependency;

/** The model must know what was done, which is not what it asked for. */
function withEdited(outcome: ToolOutcome, args: ToolArguments): ToolOutcome {
  const told = `A person changed the arguments of this call to ${JSON.stringify(args)}.`;
  if (outcome.kind === "failed") return { ...outcome, message: `${told} ${outcome.message}` };
  if (outcome.kind !== "done") return outcome;
  const { value: _, ...done } = outcome;
  return { ...done, output: `${told}\n${done.output}` };
}

const unfit = (args: Json, problem: string): ToolOutcome => ({
  kind: "failed",
  message: `A person changed the arguments of this call to ${JSON.stringify(args)}, and these do not fit: ${problem} The call was not made.`,
});

const artifactsOf = (outcome: ToolOutcome): readonly string[] =>
  outcome.kind === "done" && outcome.artifact !== undefined ? [outcome.artifact] : [];

/** A mistake of the model, or of what it runs; not one of the machine that records it all. */
const isTold = (error: unknown): boolean =>
  (!MaestroError.is(error) && !(error instanceof ServiceLost)) ||
  InputInvalid.is(error) ||
  RecoverableError.is(error);

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const advice = MaestroError.is(error) && error.advice !== undefined ? ` ${error.advice}` : "";
  const text = redact(`${message}${advice}`.slice(0, maxErrorLength * 2));
  return text.length <= maxErrorLength ? text : `${text.slice(0, maxErrorLength).toWellFormed()}…`;
}

/** The rights of a persona; null means all that its contract asks for. The model cannot change them. */
export interface PersonaPolicy {
  readonly write: readonly string[] | null;
  readonly checks: readonly string[] | null;
}

/** Asked before each tool call; a refusal is recorded and told to the model. */
export function toolPolicy(policy: PersonaPolicy): ToolPolicy {
  const mayWrite = writeRule(policy);
  return {
    // By the tool itself: another one may have a name like it.
    allow({ writes = [], runsCheck }: GovernedTool, args: ToolArguments): PolicyDecision {
      for (const path of writes.map((name) => args[name]))
        if (typeof path === "string" && !mayWrite(path))
          return refused(
            `${path} is not one of the files this persona may write: ${list(policy.write ?? [])}`,
          );
      const name = typeof args["name"] === "string" ? args["name"] : "";
      if (runsCheck && policy.checks !== null && !policy.checks.includes(name))
        return refused(`the check ${name} is not one of ${list(policy.checks)}`);
      return { allowed: true };
    },
  };
}

/** Which paths a persona may write, by its policy. */
export function writeRule({ write }: PersonaPolicy): (path: string) => boolean {
  return write === null ? () => true : namedMatcher(write);
}

/**
 * However the work wrote: when it changed a path that the policy does not allow, all its changes are put back, and the
 * failure is not retried.
 */
export function refuseForbidden(
  persona: string,
  policy: PersonaPolicy,
  began: Tree,
  files: Pick<Workspace, "tree" | "reapply">,
): void {
  if (policy.write === null) return;
  const mayWrite = writeRule(policy);
  const paths = changesBetween(began, files.tree).flatMap(({ path }) => (mayWrite(path) ? [] : [path]));
  if (paths.length === 0) return;
  files.reapply(changesBetween(files.tree, began));
  throw new GovernanceViolation(
    `${persona} changed files that it may not write: ${paths.slice(0, 10).join(", ")}`,
    {
      details: { persona, paths: paths.slice(0, 100) },
      advice: `It may write only: ${list(policy.write)}. Correct its work or its policy.write, then resume.`,
    },
  );
}

const refused = (reason: string): PolicyDecision => ({ allowed: false, reason });
const list = (names: readonly string[]): string => (names.length === 0 ? "none" : names.join(", "));
