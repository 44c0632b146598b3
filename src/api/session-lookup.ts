import { type Advice, advise } from "../domain/advice.ts";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid, SessionNotFound } from "../domain/errors.ts";
import { leastIdPrefix } from "../domain/ids.ts";
import type { SessionRecord } from "../store/store.ts";
import type { QueryServices } from "./services.ts";

/** A text that may be the beginning of an id can be too short for a search. */
const shortPrefix = (text: string): readonly Advice[] =>
  /^[0-7][0-9a-hjkmnp-tv-z]*$/.test(text) && text.length < leastIdPrefix
    ? [advise(`The beginning of an id needs at least ${leastIdPrefix} characters.`)]
    : [];

/** Finds sessions by what people type. */
export class SessionLookup {
  readonly stateDirectory: string;
  readonly #services: QueryServices;

  constructor(services: QueryServices) {
    this.#services = services;
    this.stateDirectory = services.stateDirectory;
  }

  /** The session with this id or key. Restores it from its checkpoints if the database does not have it. */
  async find(idOrKey: string): Promise<SessionRecord> {
    const { store, lost } = this.#services;
    const found =
      (await store.findSession(idOrKey)) ??
      (await lost.bringBack(idOrKey)) ??
      (await this.#findByPrefix(idOrKey));
    if (found !== undefined) return found;
    const known = (await store.reports.list({ order: "created", limit: 1_000 })).flatMap(({ id, key }) =>
      key === undefined ? [id] : [id, key],
    );
    const named = idOrKey.length > 100 ? `${idOrKey.slice(0, 100)}…` : idOrKey;
    throw new SessionNotFound(
      `There is no session with the id or key "${named}" in ${this.stateDirectory}.${didYouMean(named, known)}`,
      {
        details: { session: idOrKey, stateDirectory: this.stateDirectory },
        advice: [...shortPrefix(idOrKey), advise("List the sessions", "sessions")],
      },
    );
  }

  async isKnownKey(key: string): Promise<boolean> {
    return (await this.#services.store.findSession(key))?.key === key;
  }

  /** Ids are long, so an unambiguous prefix is enough. */
  async #findByPrefix(prefix: string): Promise<SessionRecord | undefined> {
    if (prefix.length < leastIdPrefix) return undefined;
    const found = await this.#services.store.reports.findByPrefix(prefix);
    if (found.length <= 1) return found[0];
    throw new InputInvalid(`More than one session begins with "${prefix}".`, {
      details: { sessions: found.map(({ id }) => id) },
      advice: `Use a longer prefix: ${found.map(({ id }) => id).join(", ")}`,
    });
  }
}
