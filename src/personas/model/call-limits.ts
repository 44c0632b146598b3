import type { Clock } from "../../domain/clock.ts";

/** The default of a call without a limit. */
export const defaultMaxOutputTokens = 8192;

export interface CallLimits {
  /** How long a stream may be silent. */
  readonly silenceMs: number;
  /** How long one call may take. */
  readonly totalMs: number;
}

/** Reasoning models are silent for minutes; five are where Node itself gives up. */
export const defaultCallLimits: CallLimits = { silenceMs: 240_000, totalMs: 900_000 };

/** Far more than the tokens allowed could come to; encrypted reasoning is not counted. */
export const maxAnswerBytes = (maxOutputTokens: number): number => 1024 * 1024 + maxOutputTokens * 64;

export interface Call {
  /** Aborted when the call should end, from outside or because its time is over. */
  readonly signal: AbortSignal;
  /** Notes that a part arrived. */
  readonly alive: () => void;
}

/** Ends when the work does, the signal aborts or the time is over, even if the work ignores its signal. */
export async function withinLimits<T>(
  { silenceMs, totalMs }: CallLimits,
  clock: Clock,
  signals: readonly AbortSignal[],
  work: (call: Call) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const expired = new AbortController();
  const signal = AbortSignal.any([...signals, expired.signal]);
  const startedAt = clock.now();
  let lastSignAt = startedAt;

  const expire = async (): Promise<void> => {
    for (;;) {
      const now = clock.now();
      if (now - startedAt >= totalMs) return expired.abort(late(`did not end within ${totalMs} ms`));
      if (now - lastSignAt >= silenceMs) return expired.abort(late(`said nothing for ${silenceMs} ms`));
      await clock.sleep(Math.min(startedAt + totalMs, lastSignAt + silenceMs) - now, ended.signal);
    }
  };

  try {
    signal.throwIfAborted();
    expire().catch(() => {});
    return await raceAbort(
      work({
        signal,
        alive: () => {
          lastSignAt = clock.now();
        },
      }),
      signal,
    );
  } finally {
    ended.abort();
  }
}

const late = (what: string): DOMException => new DOMException(`The model ${what}.`, "TimeoutError");

/** Does not wait for work that ignores its signal. */
export function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
