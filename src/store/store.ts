import type { StateRemoved } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { JournalHead, SessionUsage, Transition } from "../journal/journal.ts";
import type { BreakerStore } from "./breaker-store.ts";

import type { CopiedRow, Journal } from "./journal.ts";
import type { Logins } from "./logins.ts";

import type { Reports } from "./reports.ts";
import type { TicketStore } from "./ticket-store.ts";
import type { Wakeups } from "./wakeups.ts";

export type * from "./journal.ts";
export type { SessionRecord } from "./session-record.ts";

export interface Comparison {
  readonly comparedAt: number | undefined;
  readonly newestAt: number | undefined;
}

/** The rows of checkpoints that are newer than the database. */
export interface RestoredRows {
  readonly id: SessionId;
  readonly head: JournalHead;
  readonly copied: readonly CopiedRow[];
  readonly appended: readonly Transition[];
  readonly artifacts: readonly string[];
  /** All that the session has used. */
  readonly usage: readonly SessionUsage[];
}

/** Care of one SQLite file beside folders of checkpoints. Another store has its own ways, so no port names these. */
export interface Maintenance {
  /** The database's own findings of damage; empty when there is none. */
  findDamage(): Promise<readonly string[]>;
  /** When the folders of sessions were last compared with the store, and when its newest session was made. */
  findComparison(): Promise<Comparison>;
  /** Undefined: they differ, so compare them again. */
  rememberComparison(comparedAt: number | undefined): Promise<void>;
  /**
   * Appends rows of an earlier life behind `head`, with their seq, in one transaction: usage becomes what they say, and
   * open calls, which they cover, are forgotten. SessionConflict when the journal does not end at `head`; LeaseHeld when
   * a live driver holds the session.
   */
  restoreRows(restored: RestoredRows): Promise<void>;
  /** Called once when the database was deleted, moved or replaced under this process. Every later call then fails. */
  onRemoved(listener: (error: StateRemoved) => void): void;
  /** Gives space of deleted rows back to the disk where that is worth it. */
  reclaimSpace(): Promise<void>;
}

/** Everything durable but blobs: the ports, each of which a second store implements as well, and the care of this one. */
export interface Store extends Journal {
  readonly reports: Reports;
  readonly breakers: BreakerStore;
  readonly tickets: TicketStore;
  readonly logins: Logins;
  readonly wakeups: Wakeups;
  readonly maintenance: Maintenance;
  /**
   * From now on a session whose driver is silent counts as held: a process that closes must neither watch it nor take it.
   * Closes when `lastWork` has ended, which may still write.
   */
  close(lastWork?: Promise<unknown>): Promise<void>;
}
