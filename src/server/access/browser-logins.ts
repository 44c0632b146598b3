import { createHash, createHmac, randomBytes } from "node:crypto";
import type { Maestro } from "../../api/open.ts";
import type { Clock } from "../../domain/clock.ts";

/** A login ends after its browser has not used it for `idleMs`, and after `mostMs` in any case. */
export const loginLimits = { idleMs: 24 * 3_600_000, mostMs: 7 * 24 * 3_600_000 } as const;
/** A login used again within this time is not written again. */
const renewEveryMs = 5 * 60_000;
/** How often streams check for a sign-out at another server of this state directory. */
const watchEveryMs = 10_000;
const secretForm = /^[\w-]{43}$/;
/** Everyone who holds the token gets this name, because people have no names of their own yet. */
const person = { name: "owner", role: "admin" } as const;

export interface BrowserLogin {
  readonly hash: string;
  readonly name: string;
  readonly role: string;
}

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
  readonly #logins: Maestro["logins"];
  readonly #clock: Clock;
  /** Open streams, by the login they were opened with. */
  readonly #streams = new Map<string, Set<() => void>>();
  #watch: NodeJS.Timeout | undefined;

  constructor(token: string, { maestro, clock }: { readonly maestro: Maestro; readonly clock: Clock }) {
    const { logins, stateDirectory } = maestro;
    this.cookieName = `maestro_${createHash("sha256").update(stateDirectory).digest("hex").slice(0, 12)}`;
    this.#token = token;
    this.#logins = logins;
    this.#clock = clock;
  }

  /** The Set-Cookie header of a new login. */
  async start({ secure }: { readonly secure: boolean }): Promise<string> {
    const secret = randomBytes(32).toString("base64url");
    const now = this.#clock.now();
    const expiresAt = now + loginLimits.idleMs;
    await this.#logins.add(this.#hash(secret), { ...person, createdAt: now, usedAt: now, expiresAt });
    return this.#cookie(secret, loginLimits.mostMs / 1_000, secure);
  }

  /** `header`: all cookies. If several have this name, any of them may be valid. */
  async find(header: string | undefined): Promise<BrowserLogin | undefined> {
    for (const secret of this.#secretsIn(header)) {
      const found = await this.#use(this.#hash(secret));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Ends the logins of these cookies for good. Returns the Set-Cookie header that removes the cookie. */
  async end(header: string | undefined, { secure }: { readonly secure: boolean }): Promise<string> {
    for (const secret of this.#secretsIn(header)) {
      const hash = this.#hash(secret);
      await this.#logins.end(hash);
      this.#closeStreams(hash);
    }
    return this.#cookie("", 0, secure);
  }

  /** Calls `close` when the login ends. Returns a function that cancels this. */
  whileValid({ hash }: BrowserLogin, close: () => void): () => void {
    const streams = this.#streams.get(hash) ?? new Set();
    this.#streams.set(hash, streams.add(close));
    this.#watch ??= setInterval(() => void this.#closeEnded(), watchEveryMs).unref();
    return () => {
      streams.delete(close);
      if (streams.size === 0) this.#streams.delete(hash);
    };
  }

  stop(): void {
    clearInterval(this.#watch);
  }

  async #use(hash: string): Promise<BrowserLogin | undefined> {
    const login = await this.#logins.find(hash);
    const now = this.#clock.now();
    if (login === undefined || login.expiresAt <= now) return undefined;
    if (now - login.usedAt >= renewEveryMs) {
      const expiresAt = Math.min(now + loginLimits.idleMs, login.createdAt + loginLimits.mostMs);
      // On a full disk people can still read. The login then ends earlier.
      await this.#logins.renew(hash, { usedAt: now, expiresAt }).catch(() => undefined);
    }
    return { hash, name: login.name, role: login.role };
  }

  /** An open stream counts as use. */
  async #closeEnded(): Promise<void> {
    for (const hash of this.#streams.keys()) {
      // If the store cannot be read, the next check decides.
      const isOver = await this.#use(hash).then(
        (login) => login === undefined,
        () => false,
      );
      if (isOver) this.#closeStreams(hash);
    }
  }

  #closeStreams(hash: string): void {
    for (const close of this.#streams.get(hash) ?? []) close();
    this.#streams.delete(hash);
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
