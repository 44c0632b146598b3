import type { BudgetAlert } from "../../domain/budget-alert.ts";
import type { ClaimCause, ParkReason, SessionStatus, StepKind } from "../../domain/journal.ts";
import type { FailureView, Gate } from "./values.ts";

type NextStep = "attempt" | "round" | "help" | "stop";

interface Failed {
  readonly failure: FailureView;
  readonly next: NextStep;
  readonly notBefore: string | null;
}

/** What each kind of a journal entry says besides where and when: one shape per kind, nothing of it long. */
export type EntryFact =
  | { readonly kind: "session.created" }
  | { readonly kind: "session.restored" }
  | {
      readonly kind: "session.claimed";
      readonly cause: ClaimCause;
      readonly epoch: number;
    }
  | {
      readonly kind: "session.status";
      readonly status: SessionStatus;
      readonly reason: ParkReason | null;
      readonly message: string | null;
    }
  | {
      readonly kind: "session.directed";
      readonly only: readonly string[] | null;
      readonly from: string | null;
      readonly until: string | null;
      readonly pauseAfter: readonly string[] | null;
    }
  | { readonly kind: "team.changed"; readonly changes: readonly string[] }
  | { readonly kind: "message.received"; readonly say: string; readonly note: string | null }
  | { readonly kind: "phase.started" }
  | { readonly kind: "phase.completed"; readonly gate: Gate | null }
  | { readonly kind: "phase.edited" }
  | { readonly kind: "phase.inherited" }
  | { readonly kind: "group.merged" }
  | { readonly kind: "persona.inherited" }
  | { readonly kind: "persona.reused" }
  | { readonly kind: "fork.copied" }
  | { readonly kind: "checkpoint.sealed"; readonly revision: number; readonly sha256: string }
  | { readonly kind: "attempt.started"; readonly continues: boolean }
  | { readonly kind: "attempt.completed"; readonly tookMs: number }
  | ({ readonly kind: "attempt.failed" } & Failed)
  | ({ readonly kind: "attempt.reopened" } & Failed)
  | { readonly kind: "attempt.diverged"; readonly step: string }
  | { readonly kind: "dependency.waiting"; readonly dependency: string; readonly until: string }
  | { readonly kind: "decision.recorded"; readonly title: string; readonly choice: string }
  | {
      readonly kind: "budget.alerted";
      readonly alert: BudgetAlert["kind"];
      readonly level: BudgetAlert["level"];
      readonly message: string;
    }
  | {
      readonly kind: "step";
      readonly step: StepKind;
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
      readonly estimated: boolean;
      readonly tookMs: number;
    };

/** Kinds that the filter "transitions" shows. */
export const transitionKinds = [
  "session.created",
  "session.restored",
  "session.claimed",
  "session.status",
  "session.directed",
  "team.changed",
  "message.received",
  "phase.started",
  "phase.completed",
  "phase.edited",
  "phase.inherited",
  "fork.copied",
  "checkpoint.sealed",
  "attempt.started",
  "attempt.completed",
  "attempt.failed",
  "attempt.reopened",
  "budget.alerted",
] as const satisfies readonly EntryFact["kind"][];
