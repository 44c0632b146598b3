import type { Clock } from "../../domain/clock.ts";

/** An address may be wrong this often at once. One mistake is forgiven every `forgiveEveryMs`. */
const freeMistakes = 10;
const forgiveEveryMs = 6_000;
const firstDelayMs = 50;
const mostDelayMs = 1_000;
/** Bounds the memory. The address whose last mistake is oldest is forgotten. */
const mostAddresses = 4_096;

interface Mistakes {
  readonly count: number;
  readonly at: number;
}

/**
 * Slows down an address that guesses tokens: each answer to a wrong one takes longer. The right token never waits,
 * because many people may share a proxy's address with the guesser.
 */
export class WrongTokens {
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #mistakes = new Map<string, Mistakes>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The delay before a wrong token from this address is answered. */
  delayMs(address: string): number {
    const extra = this.#countOf(address) - freeMistakes;
    return extra <= 0 ? 0 : Math.min(mostDelayMs, firstDelayMs * 2 ** (extra - 1));
  }

  async wait(address: string | undefined): Promise<void> {
    const delayMs = address === undefined ? 0 : this.delayMs(address);
    if (delayMs > 0) await this.#clock.sleep(delayMs);
  }

  wasWrong(address: string | undefined): void {
    if (address === undefined) return;
    // Bounded, so that an address is forgiven within minutes.
    const count = Math.min(this.#countOf(address) + 1, 3 * freeMistakes);
    this.#mistakes.delete(address);
    this.#mistakes.set(address, { count, at: this.#clock.now() });
    const [oldest] = this.#mistakes.keys();
    if (this.#mistakes.size > mostAddresses && oldest !== undefined) this.#mistakes.delete(oldest);
  }

  #countOf(address: string): number {
    const found = this.#mistakes.get(address);
    if (found === undefined) return 0;
    return Math.max(0, found.count - Math.floor((this.#clock.now() - found.at) / forgiveEveryMs));
  }
}
