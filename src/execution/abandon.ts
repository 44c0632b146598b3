import type { Clock } from "../domain/clock.ts";

/** How long work that was told to stop has to do so: enough to end a process and what it started. */
const patienceMs = 2_000;

/**
 * Settles as the work does. Once the signal is aborted the work has a moment to end by itself; then it is left to
 * itself, and this rejects with the signal's reason: code that ignores its signal must not hold up a whole process.
 */
export function orAbandon<T>(work: () => T | Promise<T>, signal: AbortSignal, clock: Clock): Promise<T> {
  const abandonment = new Abandonment(signal, clock);
  return abandonment.run(work).finally(() => abandonment.stopListening());
}

/** The same for the many pieces of work under one signal: listening anew for each would cost more than recording it. */
export class Abandonment {
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  readonly #underWay = new Set<(reason: unknown) => void>();
  /** What is under way has this moment to end; ends early when everything has. */
  #moment: AbortController | undefined;

  constructor(signal: AbortSignal, clock: Clock) {
    this.#signal = signal;
    this.#clock = clock;
    signal.addEventListener("abort", this.#giveAMoment);
  }

  run<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const working = Promise.resolve(work());
      this.#underWay.add(reject);
      if (this.#signal.aborted) this.#giveAMoment();
      working.then(
        (result) => {
          this.#end(reject);
          resolve(result);
        },
        (error: unknown) => {
          this.#end(reject);
          reject(error);
        },
      );
    });
  }

  stopListening(): void {
    this.#signal.removeEventListener("abort", this.#giveAMoment);
  }

  readonly #giveAMoment = (): void => {
    if (this.#underWay.size === 0 || this.#moment !== undefined) return;
    this.#moment = new AbortController();
    this.#clock.sleep(patienceMs, this.#moment.signal).then(
      () => {
        this.#moment = undefined;
        for (const abandon of this.#underWay) abandon(this.#signal.reason);
        // Whatever comes now has a moment of its own.
        this.#underWay.clear();
      },
      () => undefined,
    );
  };

  #end(abandon: (reason: unknown) => void): void {
    this.#underWay.delete(abandon);
    if (this.#underWay.size > 0) return;
    this.#moment?.abort();
    this.#moment = undefined;
  }
}
