import type { Notify } from "../domain/advice.ts";
import type { StateUnavailable } from "../domain/errors.ts";
import type { QueryServices } from "./services.ts";
import { SessionQueries } from "./session-queries.ts";

interface ReadonlyServices extends QueryServices {
  readonly isMissing: boolean;
  readonly unwritable: StateUnavailable | undefined;
  readonly onNotice: Notify;
}

/** A state directory that is open for reading only. */
export class ReadonlyMaestro extends SessionQueries {
  /** The state directory does not exist: there are no sessions. */
  readonly isMissing: boolean;
  /** Why the state directory cannot be written; undefined when it can. */
  readonly unwritable: StateUnavailable | undefined;
  readonly #services: ReadonlyServices;

  constructor(services: ReadonlyServices) {
    super(services);
    this.#services = services;
    this.isMissing = services.isMissing;
    this.unwritable = services.unwritable;
    void services.lost.announce();
  }

  /** The part of `prune` that works on a full disk: it only removes. Returns the number of removed artifacts. */
  async removeUnneeded(): Promise<number> {
    const { removeUnneeded } = await import("../store/retention.ts");
    const { clock, onNotice } = this.#services;
    return removeUnneeded({ ...this.#services, now: clock.now(), report: onNotice });
  }

  /** Reports sessions that the database does not have, unless that was reported at the start. */
  announceLost(): Promise<void> {
    return this.#services.lost.announce({ exact: true });
  }

  async close(): Promise<void> {
    await this.#services.lost.notice().catch(() => undefined);
    await this.#services.store.close();
  }
}
