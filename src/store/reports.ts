import type { Amount, BudgetLevelName, Ledger, Money } from "../domain/budget.ts";
import type { BudgetAlert } from "../domain/budget-alert.ts";
import type { Cursor, Position } from "../domain/cursor.ts";
import type { SessionId } from "../domain/ids.ts";
import type { CallEnding, ReservationId, SavingKind, UsageSums } from "../domain/ledger.ts";
import type { SessionUsage } from "../journal/journal.ts";
import type { SessionCard } from "../journal/session-card.ts";
import type { SessionStatus } from "../journal/standing.ts";
import type { SessionRecord } from "./session-record.ts";

export type { BudgetAlert } from "../domain/budget-alert.ts";

export interface Reference {
  readonly sha256: string;
  readonly session: SessionId;
}

export interface ReferencePage {
  /** Only artifacts that this session references. */
  readonly by?: SessionId | undefined;
  /** The last hash of the previous page. */
  readonly after: string;
  readonly limit: number;
}

/** `created`: newest first. `status`: the newest change of status first. */
export type ListingOrder = "created" | "status";

export interface ListingFilter {
  readonly statuses?: readonly SessionStatus[] | undefined;
  /** Only sessions in which a persona waits at this moment. */
  readonly heldAt?: number | undefined;
  /** Part of an id, key or team, or of the beginning of a brief. Case does not matter. */
  readonly text?: string | undefined;
  readonly team?: string | undefined;
  /** Created at this time or later. */
  readonly since?: number | undefined;
}

export interface ListingQuery extends ListingFilter {
  readonly order: ListingOrder;
  readonly limit: number;
  /** The last session of the previous page. Throws InputInvalid for a cursor of another store. */
  readonly after?: Cursor | undefined;
}

export interface ListedSession extends SessionRecord {
  /** Its place in either order. */
  readonly cursor: Cursor;
  /** When the current status began. */
  readonly statusAt: number;
  readonly epoch: number;
  /** Undefined if none is stored; the caller reduces the journal instead. */
  readonly card: SessionCard | undefined;
}

export interface ListingCounts {
  readonly byStatus: Readonly<Record<SessionStatus, number>>;
  /** The number of running sessions in which a persona waits. */
  readonly held: number;
}

/** A journal row of any session, without its content. */
export interface JournalChange {
  readonly position: Position;
  readonly id: SessionId;
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
}

export interface LevelTotals extends Ledger {
  readonly level: BudgetLevelName;
  readonly name: string;
}

/** One row of the ledger. */
export type LedgerCall = {
  readonly reservation: ReservationId;
  readonly phase: string;
  readonly persona: string;
  readonly round: number;
  readonly attempt: number;
  readonly started: number;
  /** Null while the call is open, and if it ended without a step. */
  readonly step: number | null;
  readonly model: string;
  readonly asked: Amount;
  /** Version of the price table; null if no table prices it. */
  readonly prices: string | null;
  readonly at: number;
  readonly epoch: number;
} & ({ readonly status: "open" } | (CallEnding & { readonly endedAt: number }));

export const usageGroups = ["persona", "phase", "model", "session", "day"] as const;
export type UsageGroup = (typeof usageGroups)[number];

export interface UsageQuery {
  readonly by: UsageGroup;
  /** Limits the query to these sessions. Unknown ids are ignored. */
  readonly sessions?: readonly SessionId[] | undefined;
  /** Usage from this moment's UTC day on. */
  readonly since?: number | undefined;
  /** Maximum number of groups, largest first. Default: 1,000. */
  readonly most?: number | undefined;
}

export interface SavedSum {
  readonly kind: SavingKind;
  readonly tokens: number;
  /** Savings with a known price. */
  readonly microUsd: Money;
  readonly unpriced: number;
}

export interface UsageGroupSums extends UsageSums {
  /** Null: deleted sessions. */
  readonly name: string | null;
  /** Calls of the simulated model, which are included in the others. Their dollars are invented. */
  readonly simulatedCalls: number;
  readonly simulatedMicroUsd: Money;
  readonly simulatedUnreportedCalls: number;
  readonly simulatedEstimatedTokens: number;
  readonly simulatedEstimatedMicroUsd: Money;
  readonly saved: readonly SavedSum[];
  /** Reserved by calls that have not ended. A call without a known price counts as nothing. */
  readonly reservedMicroUsd: Money;
  /** Versions of the price tables. */
  readonly prices: readonly string[];
}

/** The usage of one session. */
export interface SessionInside {
  /** The usage of each persona in each phase. */
  readonly places: readonly (UsageGroupSums & { readonly phase: string; readonly persona: string })[];
  /** The cost of each attempt's calls, keyed by the seq of its first row. */
  readonly attempts: ReadonlyMap<number, Amount>;
}

/** The usage of one persona in one phase of a finished session, over all its attempts. */
export interface RunSample {
  readonly phase: string;
  readonly persona: string;
  readonly model: string;
  readonly spent: Amount;
}

/** The reported usage of one group on one day. The days add up to the totals of a report. */
export interface UsagePoint {
  readonly day: string;
  readonly name: string | null;
  readonly tokens: number;
  /** Null if part of the price is unknown. */
  readonly microUsd: Money | null;
}

export interface RaisedAlert extends BudgetAlert {
  readonly at: number;
  /** Null for an alert about a day or a deleted session. */
  readonly session: SessionId | null;
}

/** A session that this process drives. */
export interface HeldSession {
  readonly epoch: number;
  /** Signals wait to be received. */
  readonly isSignaled: boolean;
}

/** Reads over many sessions. They decide nothing: every decision is proved again in a transaction of the journal. */
export interface Reports {
  /** Sessions whose id has this prefix. A few are enough to show that it is ambiguous. */
  findByPrefix(prefix: string): Promise<readonly SessionRecord[]>;
  /** Sessions that say `running` but have no live driver, or whose driver died before it released them. */
  abandoned(): Promise<readonly SessionId[]>;
  /** The sessions this process drives. */
  held(): Promise<ReadonlyMap<SessionId, HeldSession>>;
  /** True if signals wait for the session's next driver. */
  hasSignals(id: SessionId): Promise<boolean>;
  /** The artifacts that a session still references, or that only this session does. */
  findReferenced(hashes: readonly string[], by?: SessionId): Promise<ReadonlySet<string>>;

  /** A page of referenced artifacts, by hash, after `after`. Each appears once, with one session that references it. */
  references(page: ReferencePage): Promise<readonly Reference[]>;

  list(query: ListingQuery): Promise<readonly ListedSession[]>;
  /** The listed sessions among these ids, in no order. */
  listed(ids: readonly SessionId[]): Promise<readonly ListedSession[]>;
  /** Counts matching sessions of every status. */
  count(filter: Omit<ListingFilter, "statuses" | "heldAt">, now: number): Promise<ListingCounts>;
  /** Sessions that wait for a place, in the order of their turns. */
  queued(): Promise<readonly SessionId[]>;
  /** Rows of all sessions after a position, in order. */
  changes(after: Position, limit: number): Promise<readonly JournalChange[]>;
  /**
   * The position of the last row, or a later one. No later row can appear before it. It never decreases, even after
   * rows are deleted.
   */
  position(): Promise<Position>;

  /** Alerts of this session, oldest first. */
  alerts(id: SessionId): Promise<readonly (BudgetAlert & { readonly at: number })[]>;
  /** Alerts of all sessions, newest first. */
  recentAlerts(limit: number): Promise<readonly RaisedAlert[]>;
  /** Totals of the session, its phases and personas, and of today over all sessions. */
  totals(id: SessionId): Promise<readonly LevelTotals[]>;
  /** The session's calls in the order of their reservation: a page after `after`. */
  calls(
    id: SessionId,
    page?: { readonly after?: ReservationId; readonly limit?: number },
  ): Promise<readonly LedgerCall[]>;
  /** The sums and the largest groups, by tokens; days in order. Includes deleted sessions. */
  usage(
    query: UsageQuery,
  ): Promise<{ readonly total: UsageGroupSums; readonly groups: readonly UsageGroupSums[] }>;
  usageInside(id: SessionId): Promise<SessionInside>;
  /** Usage per day, oldest first. */
  series(query: UsageQuery): Promise<readonly UsagePoint[]>;
  /** Everything that the session has used, in the form of `NewSession.usage`. */
  snapshot(id: SessionId): Promise<readonly SessionUsage[]>;
  /** Amounts that a fork reused instead of paying, for each persona and model. */
  reused(id: SessionId): Promise<readonly RunSample[]>;
  /**
   * Runs of the newest completed sessions of a team, plus those of session `also`, whatever its status. `at`: as
   * they were then.
   */
  history(team: string, also?: SessionId, at?: number): Promise<readonly RunSample[]>;
}

const idsAtOnce = 1_000;

/** The ids that the store does not have. */
export async function findUnknown(
  reports: Pick<Reports, "listed">,
  ids: readonly SessionId[],
): Promise<readonly SessionId[]> {
  const known = new Set<SessionId>();
  for (let from = 0; from < ids.length; from += idsAtOnce)
    for (const { id } of await reports.listed(ids.slice(from, from + idsAtOnce))) known.add(id);
  return ids.filter((id) => !known.has(id));
}
