import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../domain/clock.ts";

export const codeLifeMs = 10 * 60_000;
/** Bounds the memory; the oldest codes are dropped. */
const mostCodes = 100;

/** One-time codes for dashboard links, valid for a short time. Only hashes are stored. */
export class OneTimeCodes {
  readonly #clock: Clock;
  readonly #expiries = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  issue(): { readonly code: string; readonly expiresAt: number } {
    const code = randomBytes(32).toString("base64url");
    const expiresAt = this.#clock.now() + codeLifeMs;
    const [oldest] = this.#expiries.keys();
    if (this.#expiries.size >= mostCodes && oldest !== undefined) this.#expiries.delete(oldest);
    this.#expiries.set(hashOf(code), expiresAt);
    return { code, expiresAt };
  }

  /** True once for each valid code. Codes are looked up by hash, so that timing reveals nothing about them. */
  redeem(code: string): boolean {
    const hash = hashOf(code);
    const expiresAt = this.#expiries.get(hash);
    this.#expiries.delete(hash);
    return expiresAt !== undefined && this.#clock.now() < expiresAt;
  }
}

const hashOf = (code: string): string => createHash("sha256").update(code).digest("base64url");
