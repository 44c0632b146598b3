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
import { resultText, stepBody } from "./step-body.ts";

/** Results over this size are stored as artifacts; the journal keeps their hash. */
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

/** What an effect came to, ready to be recorded. */
export interface Performed {
  readonly body: string;
  readonly artifacts: readonly string[];
  readonly stack?: string | undefined;
  /** A result that is a text comes out of its record as it went in, and need not be read back. */
  readonly text?: string | undefined;
  /** It did nothing, and is not recorded. */
  readonly isNothing?: boolean | undefined;
  readonly failure?: Failure;
  /** It asked for steps of its own, whose records serve only who begins anew: once more in place, they would run again. */
  readonly hasSteps?: boolean | undefined;
  readonly saved?: SavedBy | undefined;
  readonly spent?: { readonly spent: Spent; readonly failed: boolean } | undefined;
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

/** What an effect changed in the workspace is part of its result; one that fails changes nothing. */
export async function runEffect<T>(
  parts: EffectParts,
  place: EffectPlace,
  step: StepToRun<T>,
): Promise<Performed> {
  const { workspace } = place;
  // Healing begins when its attempt has ended, perhaps for having stood still: that is not what ends it.
  const isHealing = step.kind === "heal";
  const signal = isHealing ? parts.control.signal : place.signal;
  let made: { readonly result: T } | undefined;
  let own: Recording | undefined;
  let ended: { readonly result: Success<T>; readonly changes: readonly TreeChange[] };
  try {
    ended = await workspace.recording((recording) => {
      own = recording;
      // Within the recording, so that what an abandoned effect changed is taken back, and what it changes later refused.
      const effect = isHealing
        ? orAbandon(step.effect, signal, parts.clock)
        : parts.abandonment.run(step.effect);
      return effect.then((result) => {
        made = { result };
        // Here, so that a result that cannot be recorded is a failure of the step, and paid for like its success.
        return { result, json: resultText(result, step.name) };
      });
    });
  } catch (error) {
    return { ...(await failed(parts, signal, step, error, made)), hasSteps: own?.hasSteps };
  }
  return succeeded(parts, place, step, ended.result, ended.changes);
}

const noArtifacts: readonly string[] = [];

interface Success<T> {
  readonly result: T;
  /** Undefined for a result of undefined. */
  readonly json: string | undefined;
}

/** At once where there is nothing to store but the row. */
function succeeded<T>(
  parts: EffectParts,
  place: EffectPlace,
  { kind, spend, saved, isNothing }: StepToRun<T>,
  { result, json }: Success<T>,
  changes: readonly TreeChange[],
): Performed | Promise<Performed> {
  if (kind === "function") reach("step.function:after-effect");
  const isLarge = json !== undefined && json.length > inlineLimit;
  // A tool and an agent name their changes in their results, and apply them again by themselves.
  const toReapply = namesItsChanges(kind, result) ? [] : changes;
  const performed = {
    body: isLarge
      ? ""
      : stepBody(json === undefined ? { kind: "nothing" } : { kind: "result", json }, toReapply),
    artifacts: noArtifacts,
    text: typeof result === "string" && !isLarge ? result : undefined,
    isNothing: isNothing?.(result),
    saved: saved?.(result),
    spent: spend && { spent: spend.spent({ result }), failed: false },
  };
  if (changes.length === 0 && !isLarge) return performed;
  return store(parts, place, performed, changes, isLarge ? { json, toReapply } : undefined);
}

/** The blobs of the files, and a result that is too large for a row. */
async function store(
  { machine, artifacts }: EffectParts,
  { workspace }: EffectPlace,
  performed: Performed,
  changes: readonly TreeChange[],
  large: { readonly json: string; readonly toReapply: readonly TreeChange[] } | undefined,
): Promise<Performed> {
  const blobs = changes.length === 0 ? [] : await machine.run(workspace.flush(changes));
  if (large === undefined) return { ...performed, artifacts: blobs };
  const sha256 = await machine.run(artifacts.put(large.json));
  const body = stepBody({ kind: "artifact", sha256 }, large.toReapply);
  return { ...performed, body, artifacts: [...blobs, sha256] };
}

async function failed<T>(
  { control, clock }: EffectParts,
  signal: AbortSignal,
  { dependency, spend }: StepToRun<T>,
  thrown: unknown,
  made: { readonly result: T } | undefined,
): Promise<Performed> {
  // Aborted work says nothing about the step; the next driver runs it again.
  control.signal.throwIfAborted();
  // Whatever it says about having been ended: it was ended because nothing came of it.
  const error: unknown = signal.aborted ? signal.reason : thrown;
  const { classifyError } = await import("./failure/classify-error.ts");
  const judged = classifyError(error, clock.now(), { dependency });
  const failure = dependency === undefined ? judged : { ...judged, dependency };
  const end = { kind: "error", error: toErrorJson(error), outage: failure.outage } as const;
  return {
    body: stepBody(error instanceof Error ? { ...end, failure } : end, []),
    artifacts: [],
    stack: (error as Error | undefined)?.stack,
    failure,
    spent: spend && { spent: spend.spent(made ?? { error: thrown }), failed: true },
  };
}

/** Only of these kinds: the result of a function is anybody's, and may have a member of that name. */
const namesItsChanges = (kind: StepKind, result: unknown): boolean =>
  (kind === "tool" || kind === "command") &&
  typeof result === "object" &&
  result !== null &&
  "changes" in result &&
  Array.isArray(result.changes);
