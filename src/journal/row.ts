import type { ErrorJson } from "../domain/error-json.ts";
import type { Failure } from "../domain/failure.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import type { TreeChange } from "../domain/tree.ts";
import type { CallTiming, EffectKind } from "./durable-step.ts";
import type { Wait } from "./values.ts";

export type StepKind = "function" | "wait" | EffectKind;

/** The outcome in a step's row: a result (none for undefined), a large result by its hash, a failure, or a wait. */
export type StepOutcome = {
  readonly changes?: readonly TreeChange[];
  readonly sent?: SentCall;
  readonly timing?: CallTiming;
} & StepEnd;

type StepEnd =
  | { readonly result: Json }
  | { readonly artifact: string }
  /** `failure`: judged while it was fresh. For a thrown value that is no error, only the text is known. */
  | { readonly error: ErrorJson; readonly failure?: Failure }
  /** `because`: the outage after which its call is repeated. */
  | { readonly wait: Wait; readonly because?: string }
  | { readonly result?: never };

/** JSON in the row itself, or the SHA-256 of the blob that holds it. No stored value is a string. */
type Stored<T extends Json> = T | string;

/** The messages that a model call sent, without those already in an earlier call's row. */
export interface SentCall {
  /** The fingerprint of an earlier call, whose first `keep` messages this call repeats. */
  readonly after?: string;
  readonly keep?: number;
  /** The messages after those. */
  readonly add: Stored<readonly Stored<JsonObject>[]>;
  /** Absent: as in the call `after`, or none. `null`: none, although that call had some. */
  readonly tools?: Stored<readonly Json[]> | null;
  /** Absent: as in the call `after`. */
  readonly settings?: Stored<JsonObject>;
}

/**
 * A step is identified by (attempt, kind, fingerprint, occurrence). Its name is for people and for detecting
 * divergence.
 */
export interface StepRow {
  readonly kind: `step.${StepKind}`;
  readonly attempt: number;
  readonly name: string;
  readonly fingerprint: string;
  readonly occurrence: number;
  /** JSON text of a StepOutcome, parsed only on replay. */
  readonly body: string;
}

/**
 * The epoch of rows that no driver of this session wrote: copies from a fork's parent, or restored from
 * checkpoints.
 */
export const copiedEpoch = -1;

/** A copied row is part of the state, but not an event of this session. */
export const isCopied = ({ epoch }: Pick<RecordedRow, "epoch">): boolean => epoch === copiedEpoch;

/** A row as read from the store. */
export interface RecordedRow {
  readonly seq: number;
  readonly epoch: number;
  readonly at: number;
  readonly kind: string;
  readonly attempt: number | null;
  readonly occurrence: number | null;
  readonly fingerprint: string | null;
  readonly name: string | null;
  readonly body: string;
  readonly hash: string;
}
