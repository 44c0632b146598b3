import type { Entry, RecordedRow } from "../domain/journal.ts";
import { applyLive, applyRecorded, emptyState, type SessionState } from "../domain/session-state.ts";
import type { Lease } from "./lease.ts";
import type { Store } from "./store.ts";

/** A driver's hold on one session: the lease, what the journal says, and the only way to add to it. */
export class SessionJournal {
  readonly lease: Lease;
  readonly state: SessionState;
  readonly store: Store;
  readonly #changed: (rows: readonly RecordedRow[]) => void;

  private constructor(
    store: Store,
    lease: Lease,
    state: SessionState,
    changed: (rows: readonly RecordedRow[]) => void,
  ) {
    this.store = store;
    this.lease = lease;
    this.state = state;
    this.#changed = changed;
  }

  static async replay(
    store: Store,
    lease: Lease,
    changed: (rows: readonly RecordedRow[]) => void,
  ): Promise<SessionJournal> {
    return new SessionJournal(store, lease, await readState(store, lease.sessionId), changed);
  }

  /** Resolves after the commit; only then does `state` know it. */
  async append(
    entries: readonly Entry[],
    artifacts: readonly string[] = [],
  ): Promise<readonly RecordedRow[]> {
    return this.#apply(await this.store.append(this.lease, entries, artifacts));
  }

  /** Turns what people said into journal rows. */
  async receive(): Promise<void> {
    this.#apply(await this.store.receive(this.lease));
  }

  #apply(rows: readonly RecordedRow[]): readonly RecordedRow[] {
    for (const row of rows) applyLive(this.state, row);
    this.#changed(rows);
    return rows;
  }
}

/** The whole history in one ordered read, verified on the way. */
export async function readState(store: Store, id: SessionState["id"]): Promise<SessionState> {
  const state = emptyState(id);
  for await (const page of store.readJournal(id)) {
    for (const row of page) applyRecorded(state, row);
  }
  return state;
}
