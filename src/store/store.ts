import type { StateRemoved } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { JournalHead, SessionUsage, Transition } from "../journal/journal.ts";
import type { Access } from "./access.ts";
import type { BreakerStore } from "./breaker-store.ts";
import type { CopiedRow, Journal } from "./journal.ts";
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
  /** Everything that the session has used. */
  readonly usage: readonly SessionUsage[];
}

/**
 * Maintenance of one SQLite file beside folders of checkpoints. It belongs to no port, because another store works
 * differently.
 */
export interface Maintenance {
  /** Damage that the database itself finds; empty if there is none. */
  findDamage(): Promise<readonly string[]>;
  /** When the session folders were last compared with the store, and when its newest session was created. */
  findComparison(): Promise<Comparison>;
  /** Undefined: they differ, so compare them again. */
  rememberComparison(comparedAt: number | undefined): Promise<void>;
  /**
   * Appends rows of an earlier life after `head`, keeping their seqs, in one transaction. Usage is replaced by the
   * rows' usage, and open calls, which it covers, are deleted. Throws SessionConflict if the journal does not end
   * at `head`, and LeaseHeld if a live driver holds the session.
   */
  restoreRows(restored: RestoredRows): Promise<void>;
  /** Called once if the database was deleted, moved or replaced under this process. Every later call then fails. */
  onRemoved(listener: (error: StateRemoved) => void): void;
  /** Returns space of deleted rows to the disk if that is worthwhile. */
  reclaimSpace(): Promise<void>;
}

/**
 * Everything durable except blobs: the ports, which a second store would implement too, and the maintenance of this
 * store.
 */
export interface Store extends Journal {
  readonly reports: Reports;
  readonly breakers: BreakerStore;
  readonly tickets: TicketStore;
  readonly access: Access;
  readonly wakeups: Wakeups;
  readonly maintenance: Maintenance;
  /**
   * From now on a session with a silent driver counts as held, because a closing process must neither watch nor
   * take it. Closes after `lastWork`, which may still write.
   */
  close(lastWork?: Promise<unknown>): Promise<void>;
}
