import type { Notify } from "../domain/advice.ts";
import type { StateUnavailable } from "../domain/errors.ts";
import { removeUnneeded } from "../store/retention.ts";
import { Reading, type ReadingParts } from "./session-queries.ts";

interface LookingParts extends ReadingParts {
  readonly isMissing: boolean;
  readonly unwritable: StateUnavailable | undefined;
  readonly onNotice: Notify;
}

/** A state directory that is open for looking alone. */
export class Looking extends Reading {
  /** The state directory does not exist: there are no sessions. */
  readonly isMissing: boolean;
  /** Why the state directory cannot be written; undefined when it can. */
  readonly unwritable: StateUnavailable | undefined;
  readonly #parts: LookingParts;

  constructor(parts: LookingParts) {
    super(parts);
    this.#parts = parts;
    this.isMissing = parts.isMissing;
    this.unwritable = parts.unwritable;
    void parts.lost.announce();
  }

  /** The one part of `prune` that a full disk allows: it writes nothing. Gives how many artifacts went. */
  removeUnneeded(): Promise<number> {
    const { clock, onNotice } = this.#parts;
    return removeUnneeded({ ...this.#parts, now: clock.now(), report: onNotice });
  }

  /** A notice about sessions that the database does not know, unless there was one at the start. */
  announceLost(): Promise<void> {
    return this.#parts.lost.announce({ exact: true });
  }

  async close(): Promise<void> {
    await this.#parts.lost.notice().catch(() => undefined);
    await this.#parts.store.close();
  }
}
