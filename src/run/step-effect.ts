import { isError, readProperty } from "../domain/bounded-json.ts";
import type { Clock } from "../domain/clock.ts";
import { toErrorJson } from "../domain/error-json.ts";
import { BudgetExceeded } from "../domain/errors.ts";
import type { Failure } from "../domain/failure.ts";
import type { Json } from "../domain/json.ts";
import type { TreeChange } from "../domain/tree.ts";
import type { Spend, Spent } from "../domain/usage.ts";
import { type Asks, answerCut, type CallTiming, type Once, type SavedBy } from "../journal/durable-step.ts";
import type { StepKind } from "../journal/journal.ts";
import { artifactBody, errorBody, resultBody, resultIn, withChanges } from "../journal/journal-codec.ts";
import type { Blobs } from "../store/blobs.ts";
import { reach } from "../store/fault-points.ts";
import type { Recording } from "../workspace/recordings.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { Abandonment, type Control, type Infrastructure, orAbandon } from "./control.ts";

/** Results whose row would be longer are stored as artifacts; the journal keeps their hash. */
export const inlineLimit = 256 * 1024;

export interface StepToRun<T> {
  readonly kind: StepKind;
  readonly name: string;
  readonly input: Json;
  readonly dependency?: string | undefined;
  readonly spend?: Spend<T> | undefined;
  readonly saved?: ((result: T) => SavedBy | undefined) | undefined;
  readonly artifacts?: ((result: T) => readonly string[]) | undefined;
  readonly isNothing?: ((result: T) => boolean) | undefined;
  readonly timing?: (() => CallTiming) | undefined;
  readonly once?: Once<T> | undefined;
  readonly asks?: Asks<T> | undefined;
  readonly effect: (allowedOutput?: number) => T | Promise<T>;
}

const noArtifacts: readonly string[] = [];

/** The outcome of an effect, ready to be recorded. No literal: see ADR 2. */
export class Performed {
  body: string;
  artifacts = noArtifacts;
  stack: string | undefined;
  /** A result that is a text comes out of its record as it went in, and need not be parsed. */
  text: string | undefined;
  /** The effect did nothing, and is not recorded. */
  isNothing: boolean | undefined;
  failure: Failure | undefined;
  /** The answer was cut at the output that its budgets left: it is not recorded as the result. */
  isCut: boolean | undefined;
  /** A command that was ended at its reserve. It is not recorded: it continues when a person resumes the session. */
  overBudget: BudgetExceeded | undefined;
  /** The effect asked for steps of its own. Their records serve a new attempt; repeated in place, they would run again. */
  hasSteps: boolean | undefined;
  saved: SavedBy | undefined;
  spent: { readonly spent: Spent; readonly failed: boolean } | undefined;

  constructor(body: string) {
    this.body = body;
  }
}

/** The value that an effect gave, if it came that far. */
class Made<T> {
  isThere = false;
  result: T | undefined;
  /** Its row without the files it changed. */
  body = "";

  take(result: T, name: string): void {
    this.isThere = true;
    this.result = result;
    this.body = resultBody(result, name);
  }
}

/** Runs the effects of one attempt's steps. */
export class EffectRunner {
  readonly #workspace: Workspace;
  readonly #artifacts: Blobs;
  readonly #control: Control;
  readonly #clock: Clock;
  readonly #infrastructure: Infrastructure;
  /** Aborted when the drive has to stop at once, or the attempt has stood still for too long. */
  readonly #signal: AbortSignal;
  readonly #abandonment: Abandonment;

  constructor(
    { artifacts, control, clock }: { artifacts: Blobs; control: Control; clock: Clock },
    workspace: Workspace,
    signal: AbortSignal,
    infrastructure: Infrastructure,
  ) {
    this.#workspace = workspace;
    this.#artifacts = artifacts;
    this.#control = control;
    this.#clock = clock;
    this.#infrastructure = infrastructure;
    this.#signal = signal;
    this.#abandonment = new Abandonment(signal, clock);
  }

  /** The attempt has ended: its signal may live on with the drive. */
  stopListening(): void {
    this.#abandonment.stopListening();
  }

  /** An effect's changes in the workspace are part of its result; an effect that fails changes nothing. */
  async run<T>(step: StepToRun<T>, allowedOutput?: number): Promise<Performed> {
    // Healing begins after its attempt has ended, perhaps by standing still: that must not end it.
    const isHealing = step.kind === "heal";
    const made = new Made<T>();
    let own: Recording | undefined;
    let changes: readonly TreeChange[];
    try {
      ({ changes } = await this.#workspace.recordings.record((recording) => {
        own = recording;
        // Within the recording, so that changes of an abandoned effect are taken back, and later ones refused.
        const run = allowedOutput === undefined ? step.effect : () => step.effect(allowedOutput);
        const effect = isHealing
          ? orAbandon(run, this.#control.signal, this.#clock)
          : this.#abandonment.run(run);
        // Here, so that a result that cannot be recorded is a failure of the step, and paid for like its success.
        return effect.then((result) => made.take(result, step.name));
      }));
    } catch (error) {
      const performed = await this.#failed(step, error, made);
      performed.hasSteps = own?.hasSteps;
      return performed;
    }
    return this.#succeeded(step, made, changes);
  }

  /** At once where there is nothing to store but the row. */
  #succeeded<T>(
    { kind, spend, saved, isNothing, artifacts }: StepToRun<T>,
    made: Made<T>,
    changes: readonly TreeChange[],
  ): Performed | Promise<Performed> {
    if (kind === "function") reach?.("step.function:after-effect");
    const result = made.result as T;
    // A tool and an agent name their changes in their results, and apply them again themselves.
    const toReapply = namesItsChanges(kind, result) ? [] : changes;
    const isLarge = made.body.length > inlineLimit;
    const performed = new Performed(isLarge ? "" : withChanges(made.body, toReapply));
    performed.text = typeof result === "string" && !isLarge ? result : undefined;
    performed.isNothing = isNothing?.(result);
    performed.saved = saved?.(result);
    if (artifacts !== undefined) performed.artifacts = artifacts(result);
    if (changes.length === 0 && !isLarge && spend === undefined) return performed;
    const large = isLarge ? { json: resultIn(made.body), toReapply } : undefined;
    return this.#store(performed, changes, large, spend?.spent({ result }));
  }

  /** Stores the blobs of the files, and a result that is too large for a row. `spent`: of a call that costs something. */
  async #store(
    performed: Performed,
    changes: readonly TreeChange[],
    large: { readonly json: string; readonly toReapply: readonly TreeChange[] } | undefined,
    spent: Spent | Promise<Spent> | undefined,
  ): Promise<Performed> {
    if (spent !== undefined) performed.spent = { spent: await spent, failed: false };
    const infrastructure = this.#infrastructure;
    if (changes.length > 0) {
      const files = await infrastructure.run(this.#workspace.flush(changes));
      performed.artifacts = [...performed.artifacts, ...files];
    }
    if (large === undefined) return performed;
    const sha256 = await infrastructure.run(this.#artifacts.put(large.json));
    performed.body = withChanges(artifactBody(sha256), large.toReapply);
    performed.artifacts = [...performed.artifacts, sha256];
    return performed;
  }

  async #failed<T>(
    { kind, dependency, spend }: StepToRun<T>,
    thrown: unknown,
    made: Made<T>,
  ): Promise<Performed> {
    // Aborted work says nothing about the step; the next driver runs it again.
    this.#control.signal.throwIfAborted();
    const signal = kind === "heal" ? this.#control.signal : this.#signal;
    // An aborted effect may throw anything; the reason of the abort is why it failed.
    const error: unknown = signal.aborted ? signal.reason : thrown;
    const { classifyError } = await import("./failure/classify-error.ts");
    const judged = classifyError(error, this.#clock.now(), { dependency });
    const failure = dependency === undefined ? judged : { ...judged, dependency };
    const judgement = { outage: failure.outage, failure: error instanceof Error ? failure : undefined };
    const performed = new Performed(errorBody(toErrorJson(error), judgement));
    performed.stack = (error as Error | undefined)?.stack;
    performed.failure = failure;
    if (kind === "command" && BudgetExceeded.is(error)) performed.overBudget = error;
    performed.isCut = isError(error) && readProperty(error, "code") === answerCut;
    const outcome = made.isThere ? { result: made.result as T } : { error: thrown };
    performed.spent = spend && { spent: await spend.spent(outcome), failed: true };
    return performed;
  }
}

/** Only of these kinds: the result of a function belongs to its author, and may have a member of that name. */
const namesItsChanges = (kind: StepKind, result: unknown): boolean =>
  (kind === "tool" || kind === "command") &&
  typeof result === "object" &&
  result !== null &&
  "changes" in result &&
  Array.isArray(result.changes);
