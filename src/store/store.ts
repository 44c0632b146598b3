import type { BreakerStore } from "./breaker-store.ts";
import type { Journal } from "./journal.ts";
import type { Reports } from "./reports.ts";
import type { TicketStore } from "./ticket-store.ts";
import type { Wakeups } from "./wakeups.ts";

export type * from "./journal.ts";
export type { SessionQuery } from "./reports.ts";
export type { SessionRecord } from "./session-record.ts";

export interface Comparison {
  readonly comparedAt: number | undefined;
  readonly newestAt: number | undefined;
}

/** Care of one SQLite file beside folders of checkpoints. Another store has its own ways, so no port names these. */
export interface Maintenance {
  /** The database's own findings of damage; empty when there is none. */
  findDamage(): Promise<readonly string[]>;
  /** When the folders of sessions were last compared with the store, and when its newest session was made. */
  findComparison(): Promise<Comparison>;
  /** Undefined: they differ, so compare them again. */
  rememberComparison(comparedAt: number | undefined): Promise<void>;
  /** Gives space of deleted rows back to the disk where that is worth it. */
  reclaimSpace(): Promise<void>;
}

/** Everything durable but blobs: the ports, each of which a second store implements as well, and the care of this one. */
export interface Store extends Journal {
  readonly reports: Reports;
  readonly breakers: BreakerStore;
  readonly tickets: TicketStore;
  readonly wakeups: Wakeups;
  readonly maintenance: Maintenance;
  close(): Promise<void>;
}
