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
  /** Only what this session points to. */
  readonly by?: SessionId | undefined;
  /** The last hash of the page before. */
  readonly after: string;
  readonly limit: number;
}

/** `created`: newest first. `status`: the newest change of status first. */
export type ListingOrder = "created" | "status";

export interface ListingFilter {
  readonly statuses?: readonly SessionStatus[] | undefined;
  /** Only sessions some persona of which waits at this moment. */
  readonly heldAt?: number | undefined;
  /** Part of an id, a key, a team or the beginning of a brief; upper and lower case are the same. */
  readonly text?: string | undefined;
  readonly team?: string | undefined;
  /** Created at this moment or later. */
  readonly since?: number | undefined;
}

export interface ListingQuery extends ListingFilter {
  readonly order: ListingOrder;
  readonly limit: number;
  /** The last session of the page before. InputInvalid when it is no cursor of this store. */
  readonly after?: Cursor | undefined;
}

export interface ListedSession extends SessionRecord {
  /** Its place in both orders. */
  readonly cursor: Cursor;
  /** When the present status began. */
  readonly statusAt: number;
  readonly epoch: number;
  /** None on record: it has to be folded from the journal. */
  readonly card: SessionCard | undefined;
}

export interface ListingCounts {
  readonly byStatus: Readonly<Record<SessionStatus, number>>;
  /** Running, and some persona waits. */
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
  /** Null while it is open, and for what ended without a step. */
  readonly step: number | null;
  readonly model: string;
  readonly asked: Amount;
  /** Version of the table that priced it; null when none has a price for it. */
  readonly prices: string | null;
  readonly at: number;
  readonly epoch: number;
} & ({ readonly status: "open" } | (CallEnding & { readonly endedAt: number }));

export const usageGroups = ["persona", "phase", "model", "session", "day"] as const;
export type UsageGroup = (typeof usageGroups)[number];

export interface UsageQuery {
  readonly by: UsageGroup;
  /** Only of these; those that do not exist have none. */
  readonly sessions?: readonly SessionId[] | undefined;
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
  readonly simulatedUnreportedCalls: number;
  readonly simulatedEstimatedTokens: number;
  readonly simulatedEstimatedMicroUsd: Money;
  readonly saved: readonly SavedSum[];
  /** Versions of the tables that priced the calls. */
  readonly prices: readonly string[];
}

/** The usage of one session. */
export interface SessionInside {
  /** Of each persona in each phase. */
  readonly places: readonly (UsageGroupSums & { readonly phase: string; readonly persona: string })[];
  /** The cost of each attempt's calls, by the seq of its first row. */
  readonly attempts: ReadonlyMap<number, Amount>;
}

/** The usage of one persona in one phase of a finished session, with all its attempts. */
export interface RunSample {
  readonly phase: string;
  readonly persona: string;
  readonly model: string;
  readonly spent: Amount;
}

/** The reported usage of one group on one day: the days sum up to the totals of a report. */
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

/** A session this process drives. */
export interface HeldSession {
  readonly epoch: number;
  /** Signals wait to be received. */
  readonly isSignaled: boolean;
}

/** Reads over many sessions. They decide nothing: every decision is proved again in a transaction of the journal. */
export interface Reports {
  /** Sessions whose id begins like this; a few are enough to know that the prefix is ambiguous. */
  findByPrefix(prefix: string): Promise<readonly SessionRecord[]>;
  /** Sessions that no live process drives and that say `running`, or whose driver died before it released them. */
  abandoned(): Promise<readonly SessionId[]>;
  /** The sessions this process drives. */
  held(): Promise<ReadonlyMap<SessionId, HeldSession>>;
  /** Signals wait for the next driver of the session. */
  hasSignals(id: SessionId): Promise<boolean>;
  /** Those of these artifacts that a session still points to, or only this one. */
  findReferenced(hashes: readonly string[], by?: SessionId): Promise<ReadonlySet<string>>;

  /** Artifacts that sessions point to, by hash, a page behind `after`; each once, with a session that points to it. */
  references(page: ReferencePage): Promise<readonly Reference[]>;

  list(query: ListingQuery): Promise<readonly ListedSession[]>;
  /** Those of these that are there, in no order. */
  listed(ids: readonly SessionId[]): Promise<readonly ListedSession[]>;
  /** Of all sessions that match, whatever their status is. */
  count(filter: Omit<ListingFilter, "statuses" | "heldAt">, now: number): Promise<ListingCounts>;
  /** Sessions that wait for a place, in the order of their turn. */
  queued(): Promise<readonly SessionId[]>;
  /** Rows of all sessions behind a position, in the order of their positions. */
  changes(after: Position, limit: number): Promise<readonly JournalChange[]>;
  /**
   * The position of the last row, behind which no row can still appear before it. It never decreases, also when rows are
   * deleted.
   */
  position(): Promise<Position>;

  /** Of this session, oldest first. */
  alerts(id: SessionId): Promise<readonly (BudgetAlert & { readonly at: number })[]>;
  /** Of all sessions, newest first. */
  recentAlerts(limit: number): Promise<readonly RaisedAlert[]>;
  /** Of the session, its phases and personas, and of today over all sessions. */
  totals(id: SessionId): Promise<readonly LevelTotals[]>;
  /** The session's calls in the order they were reserved: a page behind `after`. */
  calls(
    id: SessionId,
    page?: { readonly after?: ReservationId; readonly limit?: number },
  ): Promise<readonly LedgerCall[]>;
  /** The sums and the largest groups, by tokens; days in order. Deleted sessions are part of it. */
  usage(
    query: UsageQuery,
  ): Promise<{ readonly total: UsageGroupSums; readonly groups: readonly UsageGroupSums[] }>;
  usageInside(id: SessionId): Promise<SessionInside>;
  /** Day by day, oldest first. */
  series(query: UsageQuery): Promise<readonly UsagePoint[]>;
  /** Everything the session has used; `NewSession.usage` takes it back. */
  snapshot(id: SessionId): Promise<readonly SessionUsage[]>;
  /** Amounts that a fork took from the record instead of paying, of each persona and model. */
  reused(id: SessionId): Promise<readonly RunSample[]>;
  /** Of the newest completed sessions of a team, and of one more, however far it is; of those that were so at a time. */
  history(team: string, also?: SessionId, at?: number): Promise<readonly RunSample[]>;
}

const idsAtOnce = 1_000;

/** Those of these ids that the store does not have. */
export async function findUnknown(
  reports: Pick<Reports, "listed">,
  ids: readonly SessionId[],
): Promise<readonly SessionId[]> {
  const known = new Set<SessionId>();
  for (let from = 0; from < ids.length; from += idsAtOnce)
    for (const { id } of await reports.listed(ids.slice(from, from + idsAtOnce))) known.add(id);
  return ids.filter((id) => !known.has(id));
}
