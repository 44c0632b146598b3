import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../domain/clock.ts";

/** Short, because every server on this host name receives the cookie; the page renews it while it is used. */
export const cookieLifeMs = 24 * 3_600_000;
const cookieForm = /^(\d{1,15})\.([\w-]{22})\.([\w-]{43})$/;

/**
 * Stands for the token in a browser. Signed and not stored, so that a restart keeps browsers signed in. It is worth
 * nothing without the token that signed it, and a new token invalidates all of them.
 */
export class BrowserCookie {
  /** Named for the state directory: cookies ignore ports, and two servers of a machine must not sign out each other. */
  readonly name: string;
  readonly #key: Buffer;
  readonly #clock: Clock;

  constructor(token: string, { clock, stateDirectory }: { clock: Clock; stateDirectory: string }) {
    this.name = `maestro_${createHash("sha256").update(stateDirectory).digest("hex").slice(0, 12)}`;
    this.#key = createHmac("sha256", token).update("maestro browser cookie").digest();
    this.#clock = clock;
  }

  /** The Set-Cookie header. SameSite and HttpOnly: no page of another site sends it, no script reads it. */
  issue({ secure }: { readonly secure: boolean }): string {
    const expiresAt = this.#clock.now() + cookieLifeMs;
    const nonce = randomBytes(16).toString("base64url");
    const value = `${expiresAt}.${nonce}.${this.#sign(expiresAt, nonce)}`;
    const attributes = ["Path=/", `Max-Age=${cookieLifeMs / 1_000}`, "HttpOnly", "SameSite=Strict"];
    return [`${this.name}=${value}`, ...attributes, ...(secure ? ["Secure"] : [])].join("; ");
  }

  /** `header`: all cookies. Of several with the same name any may be valid. */
  accepts(header: string | undefined): boolean {
    return this.#expiryOf(header) > this.#clock.now();
  }

  /** Less than half of its lifetime is left. */
  isOld(header: string | undefined): boolean {
    return this.#expiryOf(header) < this.#clock.now() + cookieLifeMs / 2;
  }

  #expiryOf(header: string | undefined): number {
    if (header === undefined || header.length > 16_384) return 0;
    const expiries = header
      .split(";")
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${this.name}=`))
      .map((pair) => this.#check(pair.slice(this.name.length + 1)));
    return Math.max(0, ...expiries);
  }

  /** When it expires; 0 for a cookie that this server did not sign. */
  #check(value: string): number {
    const [, expiresAt, nonce, signature] = cookieForm.exec(value) ?? [];
    if (expiresAt === undefined || nonce === undefined || signature === undefined) return 0;
    const expected = Buffer.from(this.#sign(Number(expiresAt), nonce));
    return timingSafeEqual(Buffer.from(signature), expected) ? Number(expiresAt) : 0;
  }

  #sign(expiresAt: number, nonce: string): string {
    return createHmac("sha256", this.#key).update(`${expiresAt}.${nonce}`).digest("base64url");
  }
}
