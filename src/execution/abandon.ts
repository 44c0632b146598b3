import type { Clock } from "../domain/clock.ts";

/** How long work that was told to stop has to do so: enough to end a process and what it started. */
const patienceMs = 2_000;

/**
 * Settles as the work does. Once the signal is aborted the work has a moment to end by itself; then it is left to
 * itself, and this rejects with the signal's reason: code that ignores its signal must not hold up a whole process.
 */
export function orAbandon<T>(work: () => T | Promise<T>, signal: AbortSignal, clock: Clock): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const working = Promise.resolve(work());
    let moment: AbortController | undefined;
    const giveAMoment = (): void => {
      moment = new AbortController();
      clock.sleep(patienceMs, moment.signal).then(
        () => reject(signal.reason),
        () => undefined,
      );
    };
    const end = (): void => {
      signal.removeEventListener("abort", giveAMoment);
      moment?.abort();
    };
    if (signal.aborted) giveAMoment();
    else signal.addEventListener("abort", giveAMoment);
    working.then(
      (result) => {
        end();
        resolve(result);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  });
}
