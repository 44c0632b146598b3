import type { SessionId } from "../domain/ids.ts";
import type { ClaimCause, Entry, RecordedRow, SessionStatus, Transition } from "../domain/journal.ts";
import type { Saving, Settlement } from "../domain/ledger.ts";
import type { Message } from "../domain/message.ts";
import type { SessionUsage } from "../domain/session-usage.ts";
import type { Ticket } from "../domain/ticket.ts";
import type { BreakerStore, EndedCall } from "./breaker-store.ts";
import type { Lease, LeaseState } from "./lease.ts";
import type { LedgerStore } from "./ledger-store.ts";
import type { ListingStore } from "./listing-store.ts";
import type { SessionRecord } from "./session-record.ts";
import type { TicketStore } from "./ticket-store.ts";

export type { SessionRecord } from "./session-record.ts";

export interface NewSession {
  readonly id: SessionId;
  readonly key?: string;
  readonly team: string;
  readonly teamFingerprint: string;
  readonly identity: string;
  /** When it may be taken up by whoever recovers, if nobody has claimed it by then. */
  readonly wakeAt?: number;
  /** What its first row points to. */
  readonly artifacts?: readonly string[];
  readonly created: Extract<Transition, { kind: "session.created" }>;
}

/** A session whose rows are gone, to be continued behind what its checkpoints know. */
export interface LostSession {
  readonly session: Omit<SessionRecord, "updatedAt">;
  readonly restored: Extract<Transition, { kind: "session.restored" }>;
  readonly artifacts: readonly string[];
  /** What it had used: counted again against every budget. */
  readonly usage?: readonly SessionUsage[];
}

export interface SessionQuery {
  readonly statuses?: readonly SessionStatus[];
  readonly limit?: number;
  /** Only sessions made before this one: the cursor of the next page. */
  readonly before?: SessionId;
}

export interface Claim {
  readonly lease: Lease;
  /** How the previous driver ended; `free` is a clean end. */
  readonly found: Exclude<LeaseState, "held">;
  /** The claim itself as it was recorded. */
  readonly row: RecordedRow;
}

/** What must become true together with the entries. */
export interface Effects {
  /** Hashes the entries point to, which retention must then keep. */
  readonly artifacts?: readonly string[];
  /** Everything this session points to is pointed to from here as well. */
  readonly artifactsOf?: SessionId;
  /** The call that produced the entries: its breaker learns how it ended. */
  readonly call?: EndedCall | undefined;
  /** The requests for help the entries are about. */
  readonly tickets?: readonly Ticket[] | undefined;
  /** The reserved call that produced the entries, and what it took: settled with them, exactly once. */
  readonly settlement?: Settlement | undefined;
  /** What did not have to be paid. */
  readonly savings?: readonly Saving[] | undefined;
}

export interface Comparison {
  readonly comparedAt: number | undefined;
  readonly newestAt: number | undefined;
}

/**
 * Where everything durable lives. Methods are domain verbs: each commits once, and its promise resolves only after
 * the commit. Methods that take a lease refuse a stale one with LeaseLost and write nothing.
 */
export interface Store {
  readonly breakers: BreakerStore;
  readonly tickets: TicketStore;
  readonly ledger: LedgerStore;
  readonly listing: ListingStore;

  /** Creates the session and gives its first row, or only the session that already has its key. */
  createSession(
    session: NewSession,
  ): Promise<{ readonly session: SessionRecord; readonly row: RecordedRow | undefined }>;
  restoreSession(lost: LostSession): Promise<SessionRecord>;
  findSession(idOrKey: string): Promise<SessionRecord | undefined>;
  /** Sessions whose id begins like this; a few are enough to know that it is not clear. */
  findByPrefix(prefix: string): Promise<readonly SessionRecord[]>;
  /** Which of these the store has never heard of. */
  findUnknown(ids: readonly SessionId[]): Promise<readonly SessionId[]>;
  /** When the folders of sessions were last compared with the store, and when its newest session was made. */
  findComparison(): Promise<Comparison>;
  /** Undefined: they are not the same, so compare them again. */
  rememberComparison(comparedAt: number | undefined): Promise<void>;
  /** Newest first. */
  listSessions(query?: SessionQuery): Promise<readonly SessionRecord[]>;
  /**
   * Removes a session that no live driver holds, with all its rows. What it spent stays in totals and reports.
   * `onlyFinished`: SessionConflict when it is not, or not any more; proved in the transaction that removes it.
   */
  deleteSession(id: SessionId, options?: { readonly onlyFinished?: boolean }): Promise<void>;

  /**
   * Takes the right to drive the session, or throws LeaseHeld. Records the words that wait and a `session.claimed`;
   * calls of earlier drivers that are still open count as made.
   */
  claimSession(id: SessionId, cause: ClaimCause | ((found: Claim["found"]) => ClaimCause)): Promise<Claim>;
  releaseSession(lease: Lease): Promise<void>;
  /** Sessions that nobody alive drives and that say `running`, or whose driver died before it let go. */
  findAbandoned(): Promise<readonly SessionId[]>;
  /** What is wrong with the database itself, in its own words; empty when nothing is. */
  findDamage(): Promise<readonly string[]>;
  /** Sessions whose time has come: parked for a breaker, or started and never claimed. */
  findDue(): Promise<readonly SessionId[]>;

  /** All entries and effects, or none. */
  append(lease: Lease, entries: readonly Entry[], effects?: Effects): Promise<readonly RecordedRow[]>;
  /** In order, in pages, the hash chain verified on the way (JournalCorrupt). No more than `limit` are looked at. */
  readJournal(id: SessionId, afterSeq?: number, limit?: number): AsyncIterable<readonly RecordedRow[]>;
  /** So little is being written that what begins now will be on record soon. */
  readonly hasRoom: boolean;
  /** Calls it at once, or in turn as soon as there is room: work whose record has to wait only fills the memory. */
  whenRoom(begin: () => void): void;
  /** The body of one row again, without reading the journal. */
  readBody(position: number): Promise<string>;

  /** Leaves a word for whoever drives the session now or next. */
  say(id: SessionId, message: Message): Promise<void>;
  /** Whether words are waiting for whoever drives it next. */
  hasWords(id: SessionId): Promise<boolean>;
  /** Sessions this process drives that have words waiting. */
  findAddressed(): Promise<readonly SessionId[]>;
  /** The epochs of the leases this process holds. */
  findHeld(): Promise<ReadonlyMap<SessionId, number>>;
  /** Turns each waiting word into one journal row. */
  receive(lease: Lease): Promise<readonly RecordedRow[]>;

  /** Which of these artifacts some session still points to, or only this one. */
  findReferenced(hashes: readonly string[], by?: SessionId): Promise<ReadonlySet<string>>;
  /** Gives space of deleted rows back to the disk where that is worth it. */
  reclaimSpace(): Promise<void>;
  close(): Promise<void>;
}
