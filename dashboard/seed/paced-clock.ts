import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../src/index.ts";

/** A clock that starts in the past and runs fast until it reaches the present. */
export class PacedClock implements Clock {
  readonly #pace: number;
  #startedMs = 0;
  #realMs = 0;

  constructor(pace: number) {
    this.#pace = pace;
  }

  moveTo(timeMs: number): void {
    this.#startedMs = timeMs;
    this.#realMs = performance.now();
  }

  now(): number {
    return Math.floor(Math.min(this.#pacedMs(), Date.now()));
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const dueMs = this.now() + ms;
    const remainingMs = Math.max((dueMs - this.#pacedMs()) / this.#pace, dueMs - Date.now());
    await pause(remainingMs, signal);
  }

  /** Waits for a piece of work, which always takes less than its time. */
  readonly work = (ms: number, signal: AbortSignal): Promise<void> => pause(ms / this.#pace, signal);

  #pacedMs(): number {
    return this.#startedMs + (performance.now() - this.#realMs) * this.#pace;
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(Math.max(0, ms), undefined, signal && { signal });
  } catch {
    throw signal?.reason;
  }
}
