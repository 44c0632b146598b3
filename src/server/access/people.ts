import { type Access, hashOf, isOver, type User } from "../../api/people.ts";
import type { Clock } from "../../domain/clock.ts";
import type { BrowserLogins } from "./browser-logins.ts";
import { OpenStreams } from "./open-streams.ts";
import { owner, type Person } from "./person.ts";
import { bearerOf, type TokenCheck } from "./token.ts";

export interface PeopleParts {
  readonly access: Pick<Access, "users">;
  readonly token: TokenCheck;
  readonly logins: BrowserLogins;
  readonly clock: Clock;
}

/** Finds the person of a request, and ends the streams of those who are no longer let in. */
export class People {
  readonly streams: OpenStreams;
  readonly #parts: PeopleParts;

  constructor(parts: PeopleParts) {
    this.#parts = parts;
    this.streams = new OpenStreams((person) => this.#isStillIn(person));
  }

  /** A request with an Authorization header is judged by that alone. */
  async find(authorization: string | undefined, cookie: string | undefined): Promise<Person | undefined> {
    const { token, logins } = this.#parts;
    if (authorization === undefined) return logins.find(cookie);
    if (token.accepts(authorization)) return owner;
    const given = bearerOf(authorization);
    return given === undefined ? undefined : this.#byToken(hashOf(given));
  }

  async #byToken(proof: string): Promise<Person | undefined> {
    const user = await this.#parts.access.users.find(proof);
    if (user === undefined || user.kind !== "token" || this.#isOver(user)) return undefined;
    return { name: user.name, role: user.role, proof, user: proof };
  }

  async #isStillIn({ proof }: Person): Promise<boolean> {
    if (proof === undefined) return true;
    const found = (await this.#byToken(proof)) ?? (await this.#parts.logins.use(proof));
    return found !== undefined;
  }

  #isOver = (user: User): boolean => isOver(user, this.#parts.clock.now());
}
