import type { BudgetAlert } from "../domain/budget-alert.ts";
import type { GateResult } from "../domain/contract.ts";
import type { Failure } from "../domain/failure.ts";
import type { AttemptSettings, Healed } from "../domain/healing-action.ts";
import type { AfterFailure, ClaimCause, Direction, StepKind } from "./journal.ts";
import type { ParkReason, SessionStatus } from "./standing.ts";

/** Where and when a fact happened. Null where the fact concerns the whole session, or a whole phase. */
export interface FactPlace {
  readonly seq: number;
  readonly at: string;
  readonly phase: string | null;
  readonly persona: string | null;
  readonly round: number | null;
  readonly attempt: number | null;
  /** The seq of the attempt's first row: its identity. */
  readonly started: number | null;
}

/** One journal row as the outside sees it: in the event streams of HTTP, in `watch --json` and on the page. */
export type PublicFact = FactPlace & Fact;

export type Fact = { [Kind in FactKind]: { readonly kind: Kind } & FactBodies[Kind] }[FactKind];
export type FactKind = keyof FactBodies;
export type FactOf<Kind extends FactKind> = Extract<Fact, { readonly kind: Kind }>;

export interface GateFact {
  readonly threshold: number | null;
  readonly score: number | null;
  readonly verdict: GateResult["verdict"] | null;
}

export interface PlannedFact {
  readonly name: string;
  readonly personas: readonly string[];
}

export interface FailedFact {
  readonly failure: Failure;
  readonly next: AfterFailure["kind"];
  /** When the next attempt may start, and the longest it waits whatever the clock does. */
  readonly notBefore: string | null;
  readonly waitMs: number | null;
  /** Every healing action that was tried, and how it changes the next attempt. */
  readonly healing: readonly Healed[];
  readonly settings: AttemptSettings | null;
}

/** The kind says it all. */
export type Nothing = object;

/** Short values only: results, files and definitions stay in the journal. */
export interface FactBodies {
  "session.created": {
    readonly team: string;
    readonly brief: string;
    readonly model: string | null;
    readonly phases: readonly PlannedFact[];
    /** Phases whose output was supplied from outside. */
    readonly given: readonly string[];
  };
  "session.restored": Nothing;
  "session.forked": { readonly kept: readonly string[] };
  "session.claimed": { readonly cause: ClaimCause; readonly epoch: number };
  "session.status": {
    readonly status: SessionStatus;
    readonly reason: ParkReason | null;
    readonly message: string | null;
    readonly wakeAt: string | null;
  };
  "session.directed": { readonly [Name in keyof Required<Direction>]: Required<Direction>[Name] | null };
  "team.changed": {
    readonly changes: readonly string[];
    readonly phases: readonly PlannedFact[];
    /** Phases that run again. */
    readonly reset: readonly string[];
  };
  "message.received": { readonly say: string; readonly note: string | null };
  "phase.started": Nothing;
  "phase.completed": { readonly gate: GateFact | null; readonly awaitsReview: boolean };
  "phase.edited": Nothing;
  "group.merged": Nothing;
  "persona.reused": Nothing;
  "checkpoint.sealed": { readonly revision: number; readonly sha256: string };
  "attempt.started": { readonly continues: boolean };
  "attempt.completed": {
    readonly tookMs: number | null;
    readonly summary: string;
    /** The healing action that made the contract pass. */
    readonly healed: string | null;
  };
  "attempt.failed": FailedFact;
  "attempt.reopened": FailedFact;
  "attempt.diverged": { readonly step: string; readonly recorded: string; readonly now: string };
  "dependency.waiting": { readonly dependency: string; readonly until: string };
  "decision.recorded": { readonly title: string; readonly choice: string };
  "budget.alerted": {
    readonly alert: BudgetAlert;
    readonly message: string;
  };
  step: {
    readonly step: StepKind;
    readonly name: string;
    readonly passed: boolean;
    readonly outcome: string;
    readonly tookMs: number | null;
    /** For a wait: when it ends. */
    readonly until: string | null;
  };
  /** The two facts about money come from the ledger, not from rows. */
  "budget.reserved": { readonly call: string; readonly usd: number | null; readonly tokens: number };
  "budget.settled": {
    readonly call: string;
    readonly usd: number | null;
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly estimated: boolean;
    readonly tookMs: number;
  };
}

/** How a list of facts marks one of them. */
export type FactMark = "good" | "bad" | "waits" | "reused" | "sealed" | "restart" | SessionStatus;
