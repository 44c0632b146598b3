import type { BudgetAlert } from "../domain/budget-alert.ts";
import { applyLive, applyRecorded } from "../domain/fold.ts";
import type { Entry, RecordedRow } from "../domain/journal.ts";
import { emptyState, type SessionState } from "../domain/session-state.ts";
import type { Lease } from "./lease.ts";
import type { Effects, Store } from "./store.ts";

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

  /** `before`: the state as read before the lease was taken; only what came since is read now. */
  static async replay(
    store: Store,
    lease: Lease,
    before: SessionState,
    changed: (rows: readonly RecordedRow[]) => void,
  ): Promise<SessionJournal> {
    return new SessionJournal(store, lease, await readState(store, lease.sessionId, before), changed);
  }

  /** Resolves after the commit; only then does `state` know it. */
  append(entries: readonly Entry[], effects: Effects = {}): Promise<readonly RecordedRow[]> {
    return this.store.append(this.lease, entries, effects).then(this.#apply);
  }

  /** Turns what people said into journal rows. */
  async receive(): Promise<void> {
    this.#apply(await this.store.receive(this.lease));
  }

  /** Warnings that nobody has given before. */
  async raise(alerts: readonly BudgetAlert[]): Promise<void> {
    this.#apply(await this.store.ledger.raiseAlerts(this.lease, alerts));
  }

  readonly #apply = (rows: readonly RecordedRow[]): readonly RecordedRow[] => {
    for (const row of rows) applyLive(this.state, row);
    this.#changed(rows);
    return rows;
  };
}

/** The whole history in one ordered read, verified on the way. */
export async function readState(
  store: Store,
  id: SessionState["id"],
  state: SessionState = emptyState(id),
): Promise<SessionState> {
  for await (const page of store.readJournal(id, state.head.seq)) {
    for (const row of page) applyRecorded(state, row);
  }
  return state;
}
