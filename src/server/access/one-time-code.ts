import { randomBytes } from "node:crypto";
import { hashOf } from "../../api/people.ts";
import type { Clock } from "../../domain/clock.ts";
import type { SignedIn } from "./person.ts";

export const codeLifeMs = 10 * 60_000;
/** Bounds the memory; the oldest codes are dropped. */
const mostCodes = 100;

/** One-time codes for dashboard links, valid for a short time. Only hashes are stored. */
export class OneTimeCodes {
  readonly #clock: Clock;
  readonly #codes = new Map<string, { readonly expiresAt: number; readonly person: SignedIn }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  issue(person: SignedIn): { readonly code: string; readonly expiresAt: number } {
    const code = randomBytes(32).toString("base64url");
    const expiresAt = this.#clock.now() + codeLifeMs;
    const [oldest] = this.#codes.keys();
    if (this.#codes.size >= mostCodes && oldest !== undefined) this.#codes.delete(oldest);
    this.#codes.set(hashOf(code), { expiresAt, person });
    return { code, expiresAt };
  }

  /** The person, once for each valid code. Codes are looked up by hash, so that timing reveals nothing about them. */
  redeem(code: string): SignedIn | undefined {
    const hash = hashOf(code);
    const found = this.#codes.get(hash);
    this.#codes.delete(hash);
    return found !== undefined && this.#clock.now() < found.expiresAt ? found.person : undefined;
  }
}
