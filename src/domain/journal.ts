import type { ErrorJson } from "./error-json.ts";
import type { Failure } from "./failure.ts";
import type { Json } from "./json.ts";

export const sessionStatuses = [
  "queued",
  "running",
  "paused",
  "parked",
  "completed",
  "failed",
  "canceled",
] as const;
export type SessionStatus = (typeof sessionStatuses)[number];
export type ParkReason = "review" | "help" | "budget" | "breaker";
/**
 * `start`: the first claim, or going on after a clean end. `resume`: a person asked. `recovery`: by itself after an
 * unclean end. `message`: only to act on what somebody said.
 */
export type ClaimCause = "start" | "resume" | "recovery" | "message";

/** A session in one of these will never be driven again without a person's word. */
export const finalStatuses: readonly SessionStatus[] = ["completed", "failed", "canceled"];

export interface PersonaResult {
  readonly summary: string;
  readonly outputs: Readonly<Record<string, Json>>;
}

/** What people say from another process; becomes one journal row. */
export type Message = { readonly say: "pause" } | { readonly say: "cancel" };

/** Everything that can happen to a session, one journal row each. A step's row is shaped for replay, see StepRow. */
export type Transition =
  | {
      readonly kind: "session.created";
      readonly team: string;
      readonly definition: Json;
      readonly teamFingerprint: string;
      readonly teamFile?: string;
      readonly brief: string;
      readonly key?: string;
      readonly model?: string;
    }
  /** The database was lost; these checkpoints, oldest first, are where the session goes on from. */
  | { readonly kind: "session.restored"; readonly head: JournalHead; readonly checkpoints: readonly Json[] }
  | { readonly kind: "session.claimed"; readonly cause: ClaimCause; readonly owner: string }
  | {
      readonly kind: "session.status";
      readonly status: SessionStatus;
      readonly reason?: ParkReason;
      readonly error?: ErrorJson;
      /** When a session that waits for a breaker may be taken up again by itself. */
      readonly wakeAt?: number;
      /** Fingerprint of the request for help that was raised with it. */
      readonly ticket?: string;
    }
  | { readonly kind: "message.received"; readonly message: Message; readonly sentAt: number }
  | { readonly kind: "phase.started"; readonly phase: string }
  | { readonly kind: "phase.completed"; readonly phase: string }
  | {
      readonly kind: "checkpoint.sealed";
      readonly phase: string;
      readonly revision: number;
      readonly sha256: string;
    }
  | {
      readonly kind: "attempt.started";
      readonly phase: string;
      readonly persona: string;
      readonly round: number;
      readonly attempt: number;
      /** Fingerprint of everything the persona reads; part of each of its steps' fingerprints. */
      readonly input: string;
      /** The attempt whose recorded steps this one goes on from: it failed from an outage, not from its work. */
      readonly continues?: number;
    }
  | ({ readonly kind: "attempt.completed"; readonly result: PersonaResult } & OfAttempt)
  | ({
      readonly kind: "attempt.failed";
      readonly failure: RecordedFailure;
      /** The seq of the step whose failure ended the attempt; whoever goes on runs that one again. */
      readonly failedStep?: number;
      /** Decided once and recorded: another attempt, another round, or a person has to look. */
      readonly next: AfterFailure;
    } & OfAttempt)
  /** A dependency's breaker is open; the attempt waits and is not used up. */
  | ({ readonly kind: "dependency.waiting"; readonly dependency: string; readonly until: number } & OfAttempt)
  /** A recorded step's input differs now: steps outside `kept` (ranges of seq) are not used again. */
  | ({
      readonly kind: "attempt.diverged";
      readonly step: string;
      readonly recorded: string;
      readonly now: string;
      readonly kept: readonly (readonly [number, number])[];
    } & OfAttempt);

/** `started`: the seq of the attempt's first row, its identity. */
export interface OfAttempt {
  readonly started: number;
  readonly phase: string;
  readonly persona: string;
}

/** A failure as it was classified when it was fresh, with the error itself. */
export interface RecordedFailure extends Failure {
  readonly error: ErrorJson;
}

export type AfterFailure =
  /** `continues`: the next attempt inherits the steps of this one and repeats only the failed call. */
  | { readonly kind: "attempt" | "round"; readonly wait: Wait; readonly continues: boolean }
  /** Every round is used up. */
  | { readonly kind: "help" }
  /** The error is not one that trying again could mend. */
  | { readonly kind: "stop" };

/** A wait on disk: until `notBefore`, and never longer than `waitMs` whatever the clock does. */
export interface Wait {
  readonly notBefore: number;
  readonly waitMs: number;
}

export type StepKind = "function" | "wait";

/** What a step's row says: a result (none for undefined), a large result by its hash, a failure, or a wait. */
export type StepOutcome =
  | { readonly result: Json }
  | { readonly artifact: string }
  | { readonly error: ErrorJson }
  | { readonly wait: Wait }
  | { readonly result?: never };

/** A step's identity is (attempt, kind, fingerprint, occurrence); its name is for people and for noticing divergence. */
export interface StepRow {
  readonly kind: `step.${StepKind}`;
  readonly attempt: number;
  readonly name: string;
  readonly fingerprint: string;
  readonly occurrence: number;
  /** JSON text of a StepOutcome; parsed only when the step is replayed. */
  readonly body: string;
}

export type Entry = Transition | StepRow;

export function isStepRow(entry: Entry): entry is StepRow {
  return entry.kind.startsWith("step.");
}

/** Where a session's history ends: the last row's number and the chain's hash there. */
export interface JournalHead {
  readonly seq: number;
  readonly hash: string;
}

/** A row as read back. `position` is where the store finds its body again. */
export interface RecordedRow {
  readonly position: number;
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
