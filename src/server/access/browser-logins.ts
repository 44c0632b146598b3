import { createHash, createHmac, randomBytes } from "node:crypto";
import type { Maestro } from "../../api/open.ts";
import { type Access, isOver } from "../../api/people.ts";
import type { Clock } from "../../domain/clock.ts";
import type { Person, SignedIn } from "./person.ts";

/** A login ends after its browser has not used it for `idleMs`, and after `mostMs` in any case. */
export const loginLimits = { idleMs: 24 * 3_600_000, mostMs: 7 * 24 * 3_600_000 } as const;
/** A login used again within this time is not written again. */
const renewEveryMs = 5 * 60_000;
const secretForm = /^[\w-]{43}$/;

/**
 * Browsers that exchanged a one-time code for a cookie. The cookie holds a random secret and the store its hash, so
 * a restart keeps people signed in and a sign-out is final. The hash is keyed with the token: a new token ends all
 * logins.
 */
export class BrowserLogins {
  /**
   * Derived from the state directory: cookies ignore ports, and two servers on one machine must not sign each other
   * out.
   */
  readonly cookieName: string;
  readonly #token: string;
  readonly #access: Pick<Access, "logins" | "users">;
  readonly #clock: Clock;

  constructor(token: string, { maestro, clock }: { readonly maestro: Maestro; readonly clock: Clock }) {
    const { access, stateDirectory } = maestro;
    this.cookieName = `maestro_${createHash("sha256").update(stateDirectory).digest("hex").slice(0, 12)}`;
    this.#token = token;
    this.#access = access;
    this.#clock = clock;
  }

  /** The Set-Cookie header of a new login. Undefined if its user was revoked. */
  async start(
    { name, role, user }: SignedIn,
    { secure }: { readonly secure: boolean },
  ): Promise<string | undefined> {
    const secret = randomBytes(32).toString("base64url");
    const now = this.#clock.now();
    const expiresAt = now + loginLimits.idleMs;
    const times = { createdAt: now, usedAt: now, expiresAt };
    const login = { name, role, ...(user !== undefined && { user }), ...times };
    if (!(await this.#access.logins.add(this.#hash(secret), login))) return undefined;
    return this.#cookie(secret, loginLimits.mostMs / 1_000, secure);
  }

  /** `header`: all cookies. If several have this name, any of them may be valid. */
  async find(header: string | undefined): Promise<Person | undefined> {
    for (const secret of this.#secretsIn(header)) {
      const found = await this.use(this.#hash(secret));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Ends the logins of these cookies for good. Returns the Set-Cookie header that removes the cookie. */
  async end(header: string | undefined, { secure }: { readonly secure: boolean }): Promise<string> {
    for (const secret of this.#secretsIn(header)) await this.#access.logins.end(this.#hash(secret));
    return this.#cookie("", 0, secure);
  }

  /** The person of the login with this hash, if it is valid. An open stream counts as use. */
  async use(hash: string): Promise<Person | undefined> {
    const { logins, users } = this.#access;
    const login = await logins.find(hash);
    const now = this.#clock.now();
    if (login === undefined || login.expiresAt <= now) return undefined;
    // By its hash: the same name may have been revoked and given to another role.
    const user = login.user === undefined ? undefined : await users.find(login.user);
    if (login.user !== undefined && (user === undefined || isOver(user, now))) return undefined;
    if (now - login.usedAt >= renewEveryMs) {
      const expiresAt = Math.min(now + loginLimits.idleMs, login.createdAt + loginLimits.mostMs);
      // On a full disk people can still read. The login then ends earlier.
      await logins.renew(hash, { usedAt: now, expiresAt }).catch(() => undefined);
    }
    return { name: login.name, role: user?.role ?? "admin", proof: hash, user: login.user };
  }

  #secretsIn(header = ""): string[] {
    if (header.length > 16_384) return [];
    return header
      .split(";")
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${this.cookieName}=`))
      .map((pair) => pair.slice(this.cookieName.length + 1))
      .filter((secret) => secretForm.test(secret));
  }

  /** SameSite and HttpOnly: no page of another site sends it, no script reads it. */
  #cookie(value: string, maxAgeSeconds: number, secure: boolean): string {
    const attributes = ["Path=/", `Max-Age=${maxAgeSeconds}`, "HttpOnly", "SameSite=Strict"];
    return [`${this.cookieName}=${value}`, ...attributes, ...(secure ? ["Secure"] : [])].join("; ");
  }

  #hash(secret: string): string {
    return createHmac("sha256", this.#token).update(`maestro login ${secret}`).digest("base64url");
  }
}
