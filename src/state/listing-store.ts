import type { SessionId } from "../domain/ids.ts";
import type { SessionStatus } from "../domain/journal.ts";
import type { SessionCard } from "../domain/session-card.ts";
import type { SessionRecord } from "./session-record.ts";

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
  readonly after?: ListingCursor | undefined;
}

/** The last session of a page: where the next one goes on, whatever happens in between. */
export interface ListingCursor {
  readonly statusAt: number;
  readonly number: number;
}

export interface ListedSession extends SessionRecord {
  readonly number: number;
  /** When the present status began. */
  readonly statusAt: number;
  /** When it may be taken up by whoever recovers. */
  readonly wakeAt: number | undefined;
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
  readonly position: number;
  readonly id: SessionId;
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
}

/** What people look at when there are many sessions. Only reads. */
export interface ListingStore {
  page(query: ListingQuery): Promise<readonly ListedSession[]>;
  /** Those of these that are there, in no order. */
  find(ids: readonly SessionId[]): Promise<readonly ListedSession[]>;
  /** Of all sessions that match, whatever their status is. */
  count(filter: Omit<ListingFilter, "statuses" | "heldAt">, now: number): Promise<ListingCounts>;
  /** Sessions that wait for somebody to drive them, in the order in which it is their turn. */
  queued(): Promise<readonly SessionId[]>;
  /** Rows of all sessions behind a position of the journal, in order. */
  changes(after: number, limit: number): Promise<readonly JournalChange[]>;
  /** The last position that was given to a row; never goes back, also when rows are deleted. */
  position(): Promise<number>;
}
