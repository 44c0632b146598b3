import type { Clock } from "../domain/clock.ts";

/** How long work that was told to stop has to do so: enough to end a process and what it started. */
const patienceMs = 2_000;

/**
 * Settles as the work does. Once the signal is aborted the work has a moment to end by itself; then it is left to
 * itself, and this rejects with the signal's reason: code that ignores its signal must not hold up a whole process.
 */
export async function orAbandon<T>(work: Promise<T>, signal: AbortSignal, clock: Clock): Promise<T> {
  const over = new AbortController();
  const abandoned = new Promise<never>((_, reject) => {
    const wait = (): void => {
      clock.sleep(patienceMs, over.signal).then(
        () => reject(signal.reason),
        () => undefined,
      );
    };
    if (signal.aborted) wait();
    else signal.addEventListener("abort", wait, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([work, abandoned]);
  } finally {
    over.abort();
  }
}
