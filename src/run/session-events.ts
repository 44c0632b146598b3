import { attemptsOf, FactReader } from "../journal/fact-reader.ts";
import type { RecordedRow } from "../journal/journal.ts";
import type { SessionEvent } from "../journal/public-fact.ts";
import type { SessionState } from "../journal/session-state.ts";

/** Tells a listener the facts of the rows that this process commits. */
export class SessionEvents {
  readonly #listener: (event: SessionEvent) => void;
  readonly #readers = new Map<string, FactReader>();

  constructor(listener: (event: SessionEvent) => void) {
    this.#listener = listener;
  }

  tell(state: SessionState, rows: readonly RecordedRow[]): void {
    const sessionId = state.id;
    let reader = this.#readers.get(sessionId);
    if (reader === undefined) {
      reader = new FactReader(attemptsOf(state));
      this.#readers.set(sessionId, reader);
    }
    for (const row of rows) {
      const fact = reader.read(row);
      // A session that stops may be driven by another process next: its running attempts are looked up anew.
      if (fact.kind === "session.status") this.#readers.delete(sessionId);
      this.#listener({ sessionId, ...fact });
    }
  }
}
