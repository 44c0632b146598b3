import type { Maestro } from "../api/open.ts";
import type { Scheduler } from "../api/scheduler.ts";
import type { Clock } from "../domain/clock.ts";
import type { SessionId } from "../domain/ids.ts";
import { changesBetween, emptyTree } from "../domain/tree.ts";
import type { SessionCard } from "../journal/session-card.ts";
import type { LiveActivity } from "./live-activity.ts";
import type { SessionRow } from "./schemas/session.ts";
import type { Listing } from "./views/listing.ts";
import { sessionRow } from "./views/session-row.ts";
import type { Present } from "./views/situation.ts";

export interface SessionRowsParts {
  readonly maestro: Maestro;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly activity: LiveActivity;
}

/** Bounds the cache of file counts. Trees never change, so entries stay valid. */
const mostCounted = 1_000;

/** Builds the rows of lists. Facts about the sessions are read once for all rows of a page. */
export class SessionRows {
  readonly #parts: SessionRowsParts;
  readonly #filesChanged = new Map<string, number>();

  constructor(parts: SessionRowsParts) {
    this.#parts = parts;
  }

  async of(ids: readonly SessionId[]): Promise<SessionRow[]> {
    return this.rows(await this.#parts.maestro.listed(ids));
  }

  async rows(listings: readonly Listing[]): Promise<SessionRow[]> {
    const present = await this.present(listings);
    const parents = listings.flatMap(({ card }) =>
      card.fork === null ? [] : [card.fork.session as SessionId],
    );
    const found = parents.length === 0 ? [] : await this.#parts.maestro.listed([...new Set(parents)]);
    const keys = new Map<string, string | null>(found.map(({ id, key }) => [id, key ?? null]));
    return listings.map((listing) => sessionRow(listing, present, (id) => keys.get(id) ?? null));
  }

  /** Reads only the facts that these sessions need. */
  async present(listings: readonly Listing[]): Promise<Present> {
    const { maestro, clock, scheduler, activity } = this.#parts;
    const has = (test: (listing: Listing) => boolean) => listings.some(test);
    const queue = has(({ status }) => status === "queued") ? await maestro.queued() : [];
    const ahead = new Map<string, number>(queue.map((id, index) => [id, index]));
    const abandoned = has(({ status }) => status === "running") ? await maestro.abandoned() : new Set();
    const waits = has(({ reason, card }) => reason === "breaker" || card.held.length > 0);
    const breakers = waits ? await maestro.breakers() : [];
    await Promise.all(listings.map((listing) => this.#countFiles(listing)));
    return {
      now: clock.now(),
      places: scheduler.places,
      inUse: scheduler.inUse,
      aheadOf: (id) => ahead.get(id) ?? 0,
      isAbandoned: (id) => abandoned.has(id as SessionId),
      latestOf: (id) => activity.of(id),
      breakers: new Map(breakers.map(({ dependency, record }) => [dependency, record])),
      filesChanged: (card) => this.#filesChanged.get(reviewKey(card)) ?? 0,
    };
  }

  async #countFiles({ id, card, reason }: Listing): Promise<void> {
    const key = reviewKey(card);
    if (reason !== "review" || card.review === null || this.#filesChanged.has(key)) return;
    const { base, tree } = card.review;
    const load = async (hash: string | undefined) =>
      hash === undefined ? emptyTree : this.#parts.maestro.files(id, hash);
    try {
      const changed = changesBetween(await load(base), await load(tree)).length;
      if (this.#filesChanged.size >= mostCounted) this.#filesChanged.clear();
      this.#filesChanged.set(key, changed);
    } catch {
      // The review page reports a damaged artifact. The list omits its count.
    }
  }
}

const reviewKey = ({ review }: SessionCard): string => `${review?.base ?? ""} ${review?.tree ?? ""}`;
