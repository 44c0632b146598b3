import type { BudgetAlert } from "../domain/budget-alert.ts";
import type { SessionId } from "../domain/ids.ts";
import { lastSeal, notAsSealed } from "../journal/chain.ts";
import type { Entry, RecordedRow } from "../journal/journal.ts";
import { isStep } from "../journal/journal-codec.ts";
import type { RecordedSteps } from "../journal/recorded-steps.ts";
import { StepIndex } from "../journal/recorded-steps.ts";
import { reduce } from "../journal/reduce.ts";
import { emptyState, type SessionState } from "../journal/session-state.ts";
import { type CachedBody, StepBodyCache } from "../journal/step-body-cache.ts";
import type { StepSelection } from "../journal/step-selection.ts";
import type { Lease } from "./journal.ts";
import type { Effects, Store } from "./store.ts";

/** A session from its journal: the state, and the steps that a driver may replay. */
export interface Replay {
  readonly state: SessionState;
  readonly steps: StepIndex;
}

export interface RowListeners {
  /** Receives every committed row. Undefined without listeners, so that a step costs nothing extra. */
  readonly onRows: ((state: SessionState, rows: readonly RecordedRow[]) => void) | undefined;
  readonly onAlert: (id: SessionId, row: RecordedRow) => void;
}

/** A driver's hold on one session: the lease, the state, and the only way to append rows. */
export class SessionJournal {
  readonly lease: Lease;
  readonly store: Store;
  readonly #steps: StepIndex;
  readonly #listeners: RowListeners;
  /** Called after signals have become rows. */
  readonly #onReceived = new Set<() => void>();
  #state: SessionState;

  constructor(store: Store, lease: Lease, { state, steps }: Replay, listeners: RowListeners) {
    this.store = store;
    this.lease = lease;
    this.#state = state;
    this.#steps = steps;
    this.#listeners = listeners;
  }

  /** The current state. Every row replaces it, so a variable that holds it goes stale at the next append. */
  get state(): SessionState {
    return this.#state;
  }

  /** Resolves after the commit, which also updates `state`. */
  append(entries: readonly Entry[], effects: Effects = {}): Promise<readonly RecordedRow[]> {
    return this.store.append(this.lease, entries, effects).then(this.#apply);
  }

  /** Turns the signals in the inbox into rows. */
  async receive(): Promise<void> {
    this.#apply(await this.store.receive(this.lease));
    for (const listener of this.#onReceived) listener();
  }

  /** Calls the listener after each receipt of signals, until the returned function is called. */
  onReceived(listener: () => void): () => void {
    this.#onReceived.add(listener);
    return () => this.#onReceived.delete(listener);
  }

  /** Records alerts that were not raised before. */
  async raise(alerts: readonly BudgetAlert[]): Promise<void> {
    this.#apply(await this.store.append(this.lease, [], { alerts }));
  }

  /** The recorded steps that the state names. `running`: the attempt that replays them. */
  select(selections: readonly StepSelection[], running?: number): Promise<RecordedSteps> {
    const read = (from: number, to: number) => readRange(this.store, this.#state, from, to);
    const { seq: head } = this.#state.head;
    return this.#steps.select(selections, { read, head, ...(running !== undefined && { running }) });
  }

  /** The body of a recorded step. */
  bodyOf(step: CachedBody & { readonly seq: number }): string | Promise<string> {
    return this.#steps.bodies.take(step) ?? this.store.readBody(this.#state.id, step.seq);
  }

  /**
   * The body of a step that was not selected, read up to the next seal, because the step may be outside the part
   * that the claim verified.
   */
  async readStep(seq: number): Promise<string> {
    let body: string | undefined;
    for await (const rows of readRange(this.store, this.#state, seq, seq))
      for (const row of rows) if (row.seq === seq) body = row.body;
    return body ?? this.store.readBody(this.#state.id, seq);
  }

  readonly #apply = (rows: readonly RecordedRow[]): readonly RecordedRow[] => {
    for (const row of rows) {
      this.#state = reduce(this.#state, row);
      if (isStep(row)) this.#steps.addLive(row);
      else if (row.kind === "budget.alerted") this.#listeners.onAlert(this.#state.id, row);
    }
    this.#listeners.onRows?.(this.#state, rows);
    return rows;
  };
}

/**
 * Reads a session: the transitions of its sealed part, which determine its state, and every row after the last
 * seal. The cost does not grow with the steps of sealed phases. Everything read is verified: rows after the seal by
 * the hash chain, transitions before it by the seal's digest.
 */
export async function replaySession(
  store: Store,
  id: SessionId,
  bodies: StepBodyCache = new StepBodyCache(),
): Promise<Replay> {
  const transitions: RecordedRow[] = [];
  for await (const page of store.readTransitions(id)) transitions.push(...page);
  const sealed = lastSeal(transitions);
  let state = emptyState(id);
  for (const row of transitions) {
    if (sealed === undefined || row.seq > sealed.head.seq) break;
    state = reduce(state, row);
  }
  if (sealed !== undefined) {
    if (state.transitions !== sealed.transitions) throw notAsSealed(id, sealed);
    state = { ...state, stepCount: sealed.steps };
  }
  return continueReplay(store, { state, steps: new StepIndex(bodies) });
}

/** Reads rows that were appended since, and the steps of attempts that were running then, unless they are known. */
export async function continueReplay(store: Store, { state: before, steps }: Replay): Promise<Replay> {
  let state = before;
  const unread = [...before.running.keys()].filter((started) => !steps.knows(started));
  const from = Math.min(before.head.seq, ...unread.map((started) => started - 1));
  for await (const page of store.readJournal(before.id, from)) {
    for (const row of page) {
      const isNew = row.seq > before.head.seq;
      if (isStep(row)) {
        const started = row.attempt as number;
        if (isNew ? state.running.has(started) : unread.includes(started)) steps.addRecorded(row);
      }
      if (!isNew) continue;
      const { running } = state;
      state = reduce(state, row);
      if (state.running !== running)
        for (const started of running.keys()) if (!state.running.has(started)) steps.forget(started);
    }
  }
  return { state, steps };
}

/** Reads only the state, for readers that replay nothing. */
export async function readState(store: Store, id: SessionId): Promise<SessionState> {
  return (await replaySession(store, id)).state;
}

/**
 * Rows from one seq to another, both inclusive. Reads on to the last row of the next seal, because until then the
 * rows are chained only to each other.
 */
async function* readRange(
  store: Store,
  { id, seals }: SessionState,
  from: number,
  to: number,
): AsyncGenerator<readonly RecordedRow[]> {
  const sealed = [...seals.values()].map(({ head }) => head.seq).filter((seq) => seq >= to);
  const last = sealed.length === 0 ? to : Math.min(...sealed) + 1;
  for await (const page of store.readJournal(id, from - 1)) {
    yield page.filter(({ seq }) => seq <= to);
    if ((page.at(-1)?.seq ?? 0) >= last) return;
  }
}
