import type { Clock } from "./clock.ts";

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** A clock that tests move by hand. Sleepers follow elapsed time; `now()` also follows wall clock jumps. */
export class ManualClock implements Clock {
  private elapsedMs = 0;
  private wallMs: number;
  private sleepers: readonly Sleeper[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.wallMs = start;
  }

  now(): number {
    return this.wallMs + this.elapsedMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (!(ms > 0)) return void setImmediate(resolve);
      const onAbort = () => {
        this.remove(sleeper);
        reject(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      const sleeper: Sleeper = { dueMs: this.elapsedMs + ms, wake };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.sleepers = [...this.sleepers, sleeper].sort((a, b) => a.dueMs - b.dueMs);
    });
  }

  /** Wakes the due sleepers in order of time. Work that one of them starts can be due within the same advance. */
  async advance(ms: number): Promise<void> {
    const targetMs = this.elapsedMs + ms;
    await settle();
    for (let next = this.sleepers[0]; next !== undefined && next.dueMs <= targetMs; next = this.sleepers[0]) {
      this.elapsedMs = next.dueMs;
      this.remove(next);
      next.wake();
      await settle();
    }
    this.elapsedMs = targetMs;
  }

  /** Moves `now()` without waking sleepers, like a change of the wall clock. */
  jump(ms: number): void {
    this.wallMs += ms;
  }

  pending(): number {
    return this.sleepers.length;
  }

  nextDueInMs(): number | undefined {
    const next = this.sleepers[0];
    return next && next.dueMs - this.elapsedMs;
  }

  private remove(sleeper: Sleeper): void {
    this.sleepers = this.sleepers.filter((other) => other !== sleeper);
  }
}

const settleTurns = 3;

async function settle(): Promise<void> {
  for (let turn = 0; turn < settleTurns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
