import type { SavedBy } from "../domain/durable-step.ts";
import { toErrorJson } from "../domain/error-json.ts";
import type { Failure } from "../domain/failure.ts";
import type { StepKind } from "../domain/journal.ts";
import type { Json } from "../domain/json.ts";
import type { TreeChange } from "../domain/tree.ts";
import type { Spend, Spent } from "../domain/usage.ts";
import type { Artifacts } from "../state/artifacts.ts";
import { reach } from "../state/fault-points.ts";
import type { Recording } from "../workspace/recordings.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type Abandonment, orAbandon } from "./abandon.ts";
import type { AdmissionParts } from "./admission.ts";
import type { Machine } from "./machine-error.ts";
import { artifactBody, errorBody, resultBody, resultIn, withChanges } from "./step-body.ts";

/** Results whose row would be longer are stored as artifacts; the journal keeps their hash. */
const inlineLimit = 256 * 1024;

export interface StepToRun<T> {
  readonly kind: StepKind;
  readonly name: string;
  readonly input: Json;
  readonly dependency?: string | undefined;
  readonly spend?: Spend<T> | undefined;
  readonly saved?: ((result: T) => SavedBy | undefined) | undefined;
  readonly isNothing?: ((result: T) => boolean) | undefined;
  readonly effect: () => T | Promise<T>;
}

const noArtifacts: readonly string[] = [];

/** What an effect came to, ready to be recorded. No literal: see ADR 2. */
export class Performed {
  body: string;
  artifacts = noArtifacts;
  stack: string | undefined;
  /** A result that is a text comes out of its record as it went in, and need not be read back. */
  text: string | undefined;
  /** It did nothing, and is not recorded. */
  isNothing: boolean | undefined;
  failure: Failure | undefined;
  /** It asked for steps of its own, whose records serve only who begins anew: once more in place, they would run again. */
  hasSteps: boolean | undefined;
  saved: SavedBy | undefined;
  spent: { readonly spent: Spent; readonly failed: boolean } | undefined;

  constructor(body: string) {
    this.body = body;
  }
}

export interface EffectParts extends Pick<AdmissionParts, "clock" | "control"> {
  readonly artifacts: Artifacts;
  readonly machine: Machine;
  /** Of what the signal of the place ends. */
  readonly abandonment: Abandonment;
}

export interface EffectPlace {
  readonly workspace: Workspace;
  /** Aborted when the driver is told to stop at once, or the attempt has stood still for too long. */
  readonly signal: AbortSignal;
}

/** What the function of an effect gave, as far as it came. */
class Made<T> {
  isThere = false;
  result: T | undefined;
  /** Its row, but for the files it changed. */
  body = "";

  take(result: T, name: string): void {
    this.isThere = true;
    this.result = result;
    this.body = resultBody(result, name);
  }
}

/** What an effect changed in the workspace is part of its result; one that fails changes nothing. */
export async function runEffect<T>(
  parts: EffectParts,
  place: EffectPlace,
  step: StepToRun<T>,
): Promise<Performed> {
  // Healing begins when its attempt has ended, perhaps for having stood still: that is not what ends it.
  const isHealing = step.kind === "heal";
  const signal = isHealing ? parts.control.signal : place.signal;
  const made = new Made<T>();
  let own: Recording | undefined;
  let changes: readonly TreeChange[];
  try {
    ({ changes } = await place.workspace.recording((recording) => {
      own = recording;
      // Within the recording, so that what an abandoned effect changed is taken back, and what it changes later refused.
      const effect = isHealing
        ? orAbandon(step.effect, signal, parts.clock)
        : parts.abandonment.run(step.effect);
      // Here, so that a result that cannot be recorded is a failure of the step, and paid for like its success.
      return effect.then((result) => made.take(result, step.name));
    }));
  } catch (error) {
    const performed = await failed(parts, signal, step, error, made);
    performed.hasSteps = own?.hasSteps;
    return performed;
  }
  return succeeded(parts, place, step, made, changes);
}

/** At once where there is nothing to store but the row. */
function succeeded<T>(
  parts: EffectParts,
  place: EffectPlace,
  { kind, spend, saved, isNothing }: StepToRun<T>,
  made: Made<T>,
  changes: readonly TreeChange[],
): Performed | Promise<Performed> {
  if (kind === "function") reach("step.function:after-effect");
  const result = made.result as T;
  // A tool and an agent name their changes in their results, and apply them again by themselves.
  const toReapply = namesItsChanges(kind, result) ? [] : changes;
  const isLarge = made.body.length > inlineLimit;
  const performed = new Performed(isLarge ? "" : withChanges(made.body, toReapply));
  performed.text = typeof result === "string" && !isLarge ? result : undefined;
  performed.isNothing = isNothing?.(result);
  performed.saved = saved?.(result);
  performed.spent = spend && { spent: spend.spent({ result }), failed: false };
  if (changes.length === 0 && !isLarge) return performed;
  return store(
    parts,
    place,
    performed,
    changes,
    isLarge ? { json: resultIn(made.body), toReapply } : undefined,
  );
}

/** The blobs of the files, and a result that is too large for a row. */
async function store(
  { machine, artifacts }: EffectParts,
  { workspace }: EffectPlace,
  performed: Performed,
  changes: readonly TreeChange[],
  large: { readonly json: string; readonly toReapply: readonly TreeChange[] } | undefined,
): Promise<Performed> {
  if (changes.length > 0) performed.artifacts = await machine.run(workspace.flush(changes));
  if (large === undefined) return performed;
  const sha256 = await machine.run(artifacts.put(large.json));
  performed.body = withChanges(artifactBody(sha256), large.toReapply);
  performed.artifacts = [...performed.artifacts, sha256];
  return performed;
}

async function failed<T>(
  { control, clock }: EffectParts,
  signal: AbortSignal,
  { dependency, spend }: StepToRun<T>,
  thrown: unknown,
  made: Made<T>,
): Promise<Performed> {
  // Aborted work says nothing about the step; the next driver runs it again.
  control.signal.throwIfAborted();
  // Whatever it says about having been ended: it was ended because nothing came of it.
  const error: unknown = signal.aborted ? signal.reason : thrown;
  const { classifyError } = await import("./failure/classify-error.ts");
  const judged = classifyError(error, clock.now(), { dependency });
  const failure = dependency === undefined ? judged : { ...judged, dependency };
  const judgement = { outage: failure.outage, failure: error instanceof Error ? failure : undefined };
  const performed = new Performed(errorBody(toErrorJson(error), judgement));
  performed.stack = (error as Error | undefined)?.stack;
  performed.failure = failure;
  const outcome = made.isThere ? { result: made.result as T } : { error: thrown };
  performed.spent = spend && { spent: spend.spent(outcome), failed: true };
  return performed;
}

/** Only of these kinds: the result of a function is anybody's, and may have a member of that name. */
const namesItsChanges = (kind: StepKind, result: unknown): boolean =>
  (kind === "tool" || kind === "command") &&
  typeof result === "object" &&
  result !== null &&
  "changes" in result &&
  Array.isArray(result.changes);
