import type { Maestro } from "../../api/open.ts";
import type { SessionId } from "../../domain/ids.ts";
import { Chronicle } from "../../journal/chronicle.ts";
import { FactReader } from "../../journal/fact-reader.ts";
import { isCopied, type RecordedRow } from "../../journal/journal.ts";
import type { PublicFact } from "../../journal/public-fact.ts";
import { reduce } from "../../journal/reduce.ts";
import { emptyState, type SessionState } from "../../journal/session-state.ts";
import { type RequestedTool, ToolRequests } from "../../journal/step-facts.ts";

export interface FeedRow {
  readonly row: RecordedRow;
  readonly fact: PublicFact;
  /** For the row of a tool: the call that requested it. */
  readonly request: RequestedTool | undefined;
}

type Listener = (rows: readonly FeedRow[]) => void;

/** Reads one session's journal once for all its watchers, and afterwards only new rows. */
export class SessionFeed {
  readonly id: SessionId;
  readonly chronicle = new Chronicle();
  state: SessionState;
  readonly #maestro: Maestro;
  readonly #facts = new FactReader((started) => this.chronicle.trailOf(started));
  readonly #listeners = new Set<Listener>();
  #advancing: Promise<void> = Promise.resolve();

  constructor(id: SessionId, maestro: Maestro) {
    this.id = id;
    this.state = emptyState(id);
    this.#maestro = maestro;
  }

  /** The seq of the last row read. */
  get head(): number {
    return this.state.head.seq;
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  /** Reads new rows. Reads run one at a time, and each caller gets a read that began after its call. */
  advance(): Promise<void> {
    const reading = this.#advancing.then(() => this.#advance());
    this.#advancing = reading.catch(() => undefined);
    return reading;
  }

  /** Calls the listener with each new row once, in order. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Rereads the rows after `after` up to the head, in pages. Facts and requests cover only the rows of this replay. */
  async *replay(after: number, until = this.head): AsyncGenerator<readonly FeedRow[]> {
    const facts = new FactReader((started) => this.chronicle.trailOf(started));
    const requests = new ToolRequests();
    for await (const page of this.#maestro.rows(this.id, after)) {
      const rows = page.filter(({ seq }) => seq <= until);
      const own = rows.filter((row) => !isCopied(row));
      if (own.length > 0)
        yield own.map((row) => ({ row, fact: facts.read(row), request: requests.read(row) }));
      if (rows.length < page.length) return;
    }
  }

  async #advance(): Promise<void> {
    for await (const page of this.#maestro.rows(this.id, this.head)) {
      const rows = page.flatMap((row) => this.#add(row) ?? []);
      if (rows.length > 0) for (const listener of this.#listeners) listener(rows);
    }
  }

  /** Copied rows are part of the state, but not events of this session. */
  #add(row: RecordedRow): FeedRow | undefined {
    this.state = reduce(this.state, row);
    if (isCopied(row)) return undefined;
    const fact = this.#facts.read(row);
    return { row, fact, request: this.chronicle.add(row, fact, this.state) };
  }
}
