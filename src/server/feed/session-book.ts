import type { Maestro } from "../../api/open.ts";
import type { SessionId } from "../../domain/ids.ts";
import { SessionFeed } from "./session-feed.ts";

/** Feeds that stay in memory after their last use. */
const mostIdleFeeds = 32;

/** The feeds of sessions that are watched or were read recently. */
export class SessionBook {
  readonly #maestro: Maestro;
  /** Least recently used first. */
  readonly #feeds = new Map<SessionId, SessionFeed>();

  constructor(maestro: Maestro) {
    this.#maestro = maestro;
  }

  /** Opens the feed of a session by id or key and reads it up to the head. */
  async open(idOrKey: string): Promise<SessionFeed> {
    const { id } = await this.#maestro.find(idOrKey);
    const feed = this.#feeds.get(id) ?? new SessionFeed(id, this.#maestro);
    this.#feeds.delete(id);
    this.#feeds.set(id, feed);
    this.#forgetIdle();
    try {
      await feed.advance();
    } catch (error) {
      // A feed that failed midway must not count as complete. The next request starts again.
      if (!feed.isWatched) this.#feeds.delete(id);
      throw error;
    }
    return feed;
  }

  #forgetIdle(): void {
    const idle = [...this.#feeds.values()].filter((feed) => !feed.isWatched);
    for (const { id } of idle.slice(0, -mostIdleFeeds)) this.#feeds.delete(id);
  }
}
