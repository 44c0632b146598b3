import { applyRecorded } from "../../domain/fold.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { RecordedRow } from "../../domain/journal.ts";
import { decodeTransition, isStep } from "../../domain/journal-codec.ts";
import { emptyState, type SessionState } from "../../domain/session-state.ts";
import type { Maestro } from "../../maestro.ts";
import type { JournalEntry } from "../schemas/events.ts";
import { Chronicle } from "./chronicle.ts";
import { describeStep, describeTransition, isFailure, isTransition } from "./describe-entry.ts";

export interface FeedRow {
  readonly row: RecordedRow;
  readonly entry: JournalEntry;
}

type Listener = (rows: readonly FeedRow[]) => void;

/** One session's journal, read once for everybody who looks at it, and on from there. */
export class SessionFeed {
  readonly id: SessionId;
  readonly chronicle = new Chronicle();
  readonly state: SessionState;
  readonly #maestro: Maestro;
  readonly #listeners = new Set<Listener>();
  #advancing: Promise<void> = Promise.resolve();

  constructor(id: SessionId, maestro: Maestro) {
    this.id = id;
    this.state = emptyState(id);
    this.#maestro = maestro;
  }

  /** The seq of the last row that is known here. */
  get head(): number {
    return this.state.head.seq;
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  /** Reads what is new. One reading at a time; who asks meanwhile gets one that began after he asked. */
  advance(): Promise<void> {
    const reading = this.#advancing.then(() => this.#advance());
    this.#advancing = reading.catch(() => undefined);
    return reading;
  }

  /** Told each row once, in order, right after it is known here. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Rows behind `after` up to what is known here, again, in pages. */
  async *replay(after: number, until = this.head): AsyncGenerator<readonly FeedRow[]> {
    const lastAt = new Map<number, number>();
    for await (const page of this.#maestro.rows(this.id, after)) {
      const rows = page.filter(({ seq }) => seq <= until);
      yield rows.map((row) => ({ row, entry: this.#describeAgain(row, lastAt) }));
      if (rows.length < page.length) return;
    }
  }

  async #advance(): Promise<void> {
    for await (const page of this.#maestro.rows(this.id, this.head)) {
      const rows = page.map((row) => ({ row, entry: this.#add(row) }));
      for (const listener of this.#listeners) listener(rows);
    }
  }

  #add(row: RecordedRow): JournalEntry {
    const { chronicle, state } = this;
    let entry: JournalEntry;
    if (isStep(row)) {
      const trail = chronicle.trailOf(row.attempt);
      entry = describeStep(row, trail, trail && row.at - trail.lastAt);
      chronicle.step(row);
    } else {
      const transition = decodeTransition(row);
      chronicle.transition(state, row, transition);
      entry = describeTransition(row, transition, chronicle.trailOf(startedOf(row, transition)));
    }
    if (isTransition(entry)) chronicle.transitions.push(row.seq);
    if (isFailure(entry)) chronicle.failures.push(row.seq);
    applyRecorded(state, row);
    return entry;
  }

  /** A row that was added before; `lastAt` only knows what this replay has passed. */
  #describeAgain(row: RecordedRow, lastAt: Map<number, number>): JournalEntry {
    if (!isStep(row)) {
      const transition = decodeTransition(row);
      const started = startedOf(row, transition);
      if (started !== undefined) lastAt.set(started, row.at);
      return describeTransition(row, transition, this.chronicle.trailOf(started));
    }
    const started = row.attempt as number;
    const before = lastAt.get(started);
    lastAt.set(started, row.at);
    return describeStep(row, this.chronicle.trailOf(started), before && row.at - before);
  }
}

/** The attempt a transition belongs to, by the seq of its first row. */
function startedOf(
  { seq }: RecordedRow,
  transition: ReturnType<typeof decodeTransition>,
): number | undefined {
  if (transition.kind === "attempt.started") return seq;
  return "started" in transition ? transition.started : undefined;
}
