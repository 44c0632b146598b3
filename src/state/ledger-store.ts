import type {
  Amount,
  Budget,
  BudgetLevelName,
  Ledger,
  Money,
  ReservationDecision,
  UnpricedRule,
} from "../domain/budget.ts";
import type { BudgetAlert } from "../domain/budget-alert.ts";
import type { SessionId } from "../domain/ids.ts";
import type { RecordedRow } from "../domain/journal.ts";
import type { CallEnding, SavingKind, UsageSums } from "../domain/ledger.ts";
import type { SessionUsage } from "../domain/session-usage.ts";
import type { Lease } from "./lease.ts";

export interface BudgetLimit {
  readonly level: BudgetLevelName;
  readonly budget: Budget;
}

/** Who wants to call what, and what it may cost at most. */
export interface ReservationRequest {
  readonly phase: string;
  readonly persona: string;
  readonly round: number;
  readonly attempt: number;
  /** The seq of the attempt's first row. */
  readonly started: number;
  readonly model: string;
  readonly asked: Amount;
  /** What it will probably take, where `asked` is what it cannot exceed: said to people, and decides nothing. */
  readonly likely?: Amount;
  readonly limits: readonly BudgetLimit[];
  /** Refused, unless somebody has said otherwise. */
  readonly unpriced?: UnpricedRule;
}

/** `name`: which persona, phase, session or day it is whose budget stands in the way. */
export type ReservationRefusal = Exclude<ReservationDecision<BudgetLevelName>, { kind: "granted" }> & {
  readonly name: string;
};

export type ReservationAnswer =
  | { readonly kind: "granted"; readonly reservation: number }
  | ReservationRefusal;

export interface LevelTotals extends Ledger {
  readonly level: BudgetLevelName;
  readonly name: string;
}

/** One row of the ledger; `number` is the reservation. */
export type LedgerCall = {
  readonly number: number;
  readonly phase: string;
  readonly persona: string;
  readonly round: number;
  readonly attempt: number;
  readonly started: number;
  /** Null while it is open, and for what ended without a step. */
  readonly step: number | null;
  readonly model: string;
  readonly asked: Amount;
  readonly at: number;
  readonly epoch: number;
} & ({ readonly status: "open" } | (CallEnding & { readonly endedAt: number }));

export const usageGroups = ["persona", "phase", "model", "session", "day"] as const;
export type UsageGroup = (typeof usageGroups)[number];

export interface UsageQuery {
  readonly by: UsageGroup;
  readonly session?: SessionId | undefined;
  /** From the UTC day of this moment on. */
  readonly since?: number | undefined;
  /** Groups at most, the largest first; 1,000 unless said. */
  readonly most?: number | undefined;
}

export interface SavedSum {
  readonly kind: SavingKind;
  readonly tokens: number;
  /** Of the savings whose price is known. */
  readonly microUsd: Money;
  readonly unpriced: number;
}

export interface UsageGroupSums extends UsageSums {
  /** Null: sessions that were deleted. */
  readonly name: string | null;
  /** Those of the simulated model, which are part of the others; its dollars are invented. */
  readonly simulatedCalls: number;
  readonly simulatedMicroUsd: Money;
  readonly saved: readonly SavedSum[];
}

/** What one persona took in one phase of one finished session, with all its attempts. */
export interface RunSample {
  readonly phase: string;
  readonly persona: string;
  readonly model: string;
  readonly spent: Amount;
}

export type { BudgetAlert } from "../domain/budget-alert.ts";

/** What one group took on one day, as providers reported it: the days sum up to the totals of a report. */
export interface UsagePoint {
  readonly day: string;
  readonly name: string | null;
  readonly tokens: number;
  /** Null when the price of some of it is not known. */
  readonly microUsd: Money | null;
}

export interface RaisedAlert extends BudgetAlert {
  readonly at: number;
  /** Null: it is about a day, or about a session that was deleted. */
  readonly session: SessionId | null;
}

/**
 * Who spent what, and what may still be spent. A call is reserved here before it is made and settled with the entries
 * it produced (`Effects.settlement`); one that leaves no entry is settled by appending none.
 */
export interface LedgerStore {
  /** One transaction over persona, phase, session and day: in all processes together no limit is passed. */
  reserve(lease: Lease, request: ReservationRequest): Promise<ReservationAnswer>;
  /** For a call that surely was never sent: it leaves no trace. */
  release(lease: Lease, reservation: number): Promise<void>;
  /** Records the alerts that nobody has raised before; the session's new rows. */
  raiseAlerts(lease: Lease, alerts: readonly BudgetAlert[]): Promise<readonly RecordedRow[]>;
  /** Of this session, oldest first. */
  alerts(id: SessionId): Promise<readonly (BudgetAlert & { readonly at: number })[]>;
  /** Of the session, its phases and personas, and of today over all sessions. */
  totals(id: SessionId): Promise<readonly LevelTotals[]>;
  /** The session's calls in the order they were reserved: a page behind `after`. */
  calls(
    id: SessionId,
    page?: { readonly after?: number; readonly limit?: number },
  ): Promise<readonly LedgerCall[]>;
  /** The sums and the largest groups, by tokens; days in order. Deleted sessions are part of it. */
  usage(
    query: UsageQuery,
  ): Promise<{ readonly total: UsageGroupSums; readonly groups: readonly UsageGroupSums[] }>;
  /** Of each of these sessions that has any; `name` is its id. */
  usageOf(ids: readonly SessionId[]): Promise<readonly UsageGroupSums[]>;
  /** Of each persona in each phase. */
  usageByPlace(
    id: SessionId,
  ): Promise<readonly (UsageGroupSums & { readonly phase: string; readonly persona: string })[]>;
  /** What the calls of each attempt came to, by the seq of its first row. */
  costByAttempt(id: SessionId): Promise<ReadonlyMap<number, Amount>>;
  /** Day by day, oldest first. */
  series(query: UsageQuery): Promise<readonly UsagePoint[]>;
  /** Of all sessions, newest first. */
  recentAlerts(limit: number): Promise<readonly RaisedAlert[]>;
  /** Everything the session has used; `Store.restoreSession` takes it back. */
  snapshot(id: SessionId): Promise<readonly SessionUsage[]>;
  /** What a fork took from the record instead of paying for it, of each persona and model. */
  reused(id: SessionId): Promise<readonly RunSample[]>;
  /** Of the newest completed sessions of a team, and of one more, however far it is; of those that were so at a time. */
  history(team: string, also?: SessionId, at?: number): Promise<readonly RunSample[]>;
}
