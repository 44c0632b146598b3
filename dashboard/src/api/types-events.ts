import type { StepBlock } from "./types-persona.ts";
import type { BreakerView, ServerStatus } from "./types-server.ts";
import type {
  ArtifactFile,
  BudgetView,
  Decision,
  ParkReason,
  PersonaView,
  PhaseHeader,
  SessionHeader,
  SessionRow,
  SessionStatus,
} from "./types-session.ts";
import type { Failure, GateView } from "./types-values.ts";

/**
 * `GET /v1/events` (all sessions) sends `hello`, `session`, `breaker`, `status`.
 * `GET /v1/sessions/:id/events` sends `hello`, `entry`, `change`, `breaker`, `status`, and with `?text=<phase>/<persona>`
 * also `text` and `step` of that persona. Only `entry` (its seq) and `session` (the journal's position) carry an `id`;
 * the others are never replayed. `Last-Event-ID` or `?after=` replays what follows it (and a `change` with whatever
 * differs since then); without either only what happens from now on is sent.
 */
export interface StreamEvents {
  /** First, at every connect. */
  readonly hello: {
    readonly now: string;
    /** Differs after a restart of the server. */
    readonly instance: string;
    /** How many events the replay after `Last-Event-ID` has; null where it cannot tell (then the page asks anew). */
    readonly replay: number | null;
  };
  /** The whole row, at most four times a second per session. */
  readonly session: SessionRow;
  readonly breaker: BreakerView;
  readonly status: ServerStatus;
  readonly entry: JournalEntry;
  readonly change: SessionChange;
  readonly text: LiveText;
  readonly step: LiveStep;
}

/** Only what differs from what was sent before; at most four times a second. */
export interface SessionChange {
  readonly session?: Partial<SessionHeader>;
  readonly phases?: readonly PhaseHeader[];
  readonly personas?: readonly { readonly phase: string; readonly persona: PersonaView }[];
  readonly budgets?: readonly BudgetView[];
  readonly decisions?: readonly Decision[];
  readonly artifacts?: readonly ArtifactFile[];
}

/** A piece of a model's answer under way; the recorded step replaces it. At most ten a second. */
export interface LiveText {
  readonly phase: string;
  readonly persona: string;
  readonly delta: string;
  /** "model#9" */
  readonly call: string;
  readonly outputTokens: number;
  readonly startedAt: string;
}

export interface LiveStep {
  readonly phase: string;
  readonly persona: string;
  readonly block: StepBlock;
}

/** Where an entry belongs; all null for the session's own. */
export interface EntryPlace {
  readonly seq: number;
  readonly at: string;
  readonly phase: string | null;
  readonly persona: string | null;
  readonly round: number | null;
  readonly attempt: number | null;
}

/** server adds: a journal row for people. Kinds that the page does not know are shown by their name. */
export type JournalEntry = EntryPlace & EntryFact;

export type EntryFact =
  | { readonly kind: "session.created" }
  | { readonly kind: "session.restored" }
  | {
      readonly kind: "session.claimed";
      readonly cause: "start" | "resume" | "recovery" | "message";
      readonly epoch: number;
      /** Completed steps that ran again: 0, or something is wrong. */
      readonly stepsRunAgain: number;
      readonly tookMs: number;
    }
  | {
      readonly kind: "session.status";
      readonly status: SessionStatus;
      readonly reason: ParkReason | null;
      readonly message: string | null;
    }
  | { readonly kind: "message.received"; readonly say: string; readonly note: string | null }
  | { readonly kind: "phase.started" }
  | { readonly kind: "phase.completed"; readonly gate: GateView | null }
  | { readonly kind: "checkpoint.sealed"; readonly revision: number; readonly sha256: string }
  | { readonly kind: "attempt.started"; readonly continues: boolean }
  | { readonly kind: "attempt.completed"; readonly tookMs: number }
  | {
      readonly kind: "attempt.failed";
      readonly failure: Failure;
      readonly next: "attempt" | "round" | "help" | "stop";
      readonly notBefore: string | null;
      readonly costUsd: number | null;
    }
  | { readonly kind: "attempt.diverged"; readonly step: string }
  | { readonly kind: "dependency.waiting"; readonly dependency: string; readonly until: string }
  | {
      readonly kind: "step";
      readonly step: "model" | "tool" | "check" | "function" | "wait";
      readonly name: string;
      readonly passed: boolean;
      readonly outcome: string;
      readonly tookMs: number | null;
    }
  | {
      readonly kind: "budget.reserved";
      readonly call: string;
      readonly usd: number | null;
      readonly tokens: number;
    }
  | {
      readonly kind: "budget.settled";
      readonly call: string;
      readonly usd: number | null;
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly tookMs: number;
    }
  | {
      readonly kind: "breaker.changed";
      readonly dependency: string;
      readonly from: "closed" | "open" | "half-open";
      readonly to: "closed" | "open" | "half-open";
      readonly failures: number;
      readonly probeAt: string | null;
    }
  | { readonly kind: "decision.recorded"; readonly choice: string };

/**
 * server adds: `GET /v1/sessions/:id/events` with `Accept: application/json`, and `?before=<seq>&limit=<n>&show=<filter>`:
 * entries before that seq (without it the newest), newest first.
 */
export interface JournalPage {
  readonly entries: readonly JournalEntry[];
  /** Entries that match the filter in the whole journal. */
  readonly total: number;
}

export type JournalFilter = "all" | "transitions" | "failures" | "money";
