import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../domain/clock.ts";

export const cookieName = "maestro_session";
export const cookieLifeMs = 7 * 24 * 3_600_000;
const cookieForm = /^(\d{1,15})\.([\w-]{22})\.([\w-]{43})$/;

/**
 * What a browser shows instead of the token. Signed and not stored, so that a restart signs nobody out; it is worth
 * nothing without the token it was signed with, and a new token ends them all.
 */
export class BrowserCookie {
  readonly #key: Buffer;
  readonly #clock: Clock;

  constructor(token: string, clock: Clock) {
    this.#key = createHmac("sha256", token).update("maestro browser cookie").digest();
    this.#clock = clock;
  }

  /** The whole header. SameSite and HttpOnly: no other site's page sends it, no script reads it. */
  issue({ secure }: { readonly secure: boolean }): string {
    const expiresAt = this.#clock.now() + cookieLifeMs;
    const nonce = randomBytes(16).toString("base64url");
    const value = `${expiresAt}.${nonce}.${this.#sign(expiresAt, nonce)}`;
    const attributes = ["Path=/", `Max-Age=${cookieLifeMs / 1_000}`, "HttpOnly", "SameSite=Strict"];
    return [`${cookieName}=${value}`, ...attributes, ...(secure ? ["Secure"] : [])].join("; ");
  }

  /** `header`: all cookies as they came. Of several of the same name any may be the right one. */
  accepts(header: string | undefined): boolean {
    if (header === undefined || header.length > 16_384) return false;
    return header
      .split(";")
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${cookieName}=`))
      .some((pair) => this.#isValid(pair.slice(cookieName.length + 1)));
  }

  #isValid(value: string): boolean {
    const [, expiresAt, nonce, signature] = cookieForm.exec(value) ?? [];
    if (expiresAt === undefined || nonce === undefined || signature === undefined) return false;
    const expected = Buffer.from(this.#sign(Number(expiresAt), nonce));
    const same = timingSafeEqual(Buffer.from(signature), expected);
    return same && this.#clock.now() < Number(expiresAt);
  }

  #sign(expiresAt: number, nonce: string): string {
    return createHmac("sha256", this.#key).update(`${expiresAt}.${nonce}`).digest("base64url");
  }
}
