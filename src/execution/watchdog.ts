import type { Clock } from "../domain/clock.ts";
import { AttemptTimeout } from "../domain/errors.ts";

const looksPerLimit = 4;

/**
 * Ends work that makes no progress. Counts looks instead of comparing times, so that a clock that jumps neither ends
 * an attempt nor spares it, and progress costs no timer.
 */
export class Watchdog {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #end = new AbortController();
  #progressed = true;
  #waiting = 0;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  progress(): void {
    this.#progressed = true;
  }

  /** A wait on purpose is no lack of progress. */
  async during<T>(wait: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    try {
      return await wait();
    } finally {
      this.#waiting -= 1;
      this.#progressed = true;
    }
  }

  /** Rejects with AttemptTimeout when the work stands still for the limit; otherwise settles as the work does. */
  async watch<T>(work: Promise<T>, abort: (reason: AttemptTimeout) => void): Promise<T> {
    try {
      return await Promise.race([
        work,
        this.#stall().then((timeout) => {
          abort(timeout);
          throw timeout;
        }),
      ]);
    } finally {
      this.#end.abort();
    }
  }

  async #stall(): Promise<AttemptTimeout> {
    for (let stillFor = 0; stillFor < looksPerLimit; ) {
      this.#progressed = false;
      await this.#clock.sleep(this.#limitMs / looksPerLimit, this.#end.signal);
      stillFor = this.#progressed || this.#waiting > 0 ? 0 : stillFor + 1;
    }
    return new AttemptTimeout(`No progress for ${this.#limitMs / 1_000} s.`, {
      details: { limitMs: this.#limitMs },
      advice:
        "The next attempt goes on from the recorded steps. Longer work can raise timeoutMs, or record steps in between.",
    });
  }
}
