import type { Maestro } from "../../api/open.ts";
import type { SessionId } from "../../domain/ids.ts";
import { SessionFeed } from "./session-feed.ts";

/** Sessions whose history is kept in memory after somebody looked at them. */
const mostIdleFeeds = 32;

/** The feeds of all sessions that somebody looks at, or looked at lately. */
export class SessionBook {
  readonly #maestro: Maestro;
  /** Those used last come last. */
  readonly #feeds = new Map<SessionId, SessionFeed>();

  constructor(maestro: Maestro) {
    this.#maestro = maestro;
  }

  /** By id or key, as it is now. */
  async open(idOrKey: string): Promise<SessionFeed> {
    const { id } = await this.#maestro.find(idOrKey);
    const feed = this.#feeds.get(id) ?? new SessionFeed(id, this.#maestro);
    this.#feeds.delete(id);
    this.#feeds.set(id, feed);
    this.#forgetIdle();
    try {
      await feed.advance();
    } catch (error) {
      // Half a history must not be taken for the whole; the next one who looks starts anew.
      if (!feed.isWatched) this.#feeds.delete(id);
      throw error;
    }
    return feed;
  }

  /** Only if somebody looks at it. */
  peek(id: SessionId): SessionFeed | undefined {
    return this.#feeds.get(id);
  }

  #forgetIdle(): void {
    const idle = [...this.#feeds.values()].filter((feed) => !feed.isWatched);
    for (const { id } of idle.slice(0, -mostIdleFeeds)) this.#feeds.delete(id);
  }
}
