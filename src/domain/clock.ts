export interface Clock {
  now(): number;
  /** Rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A longer `setTimeout` fires at once, so long sleeps go in slices. */
const maxTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = { now: Date.now, sleep };

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    let remainingMs = ms > 0 ? ms : 0;
    let timer: NodeJS.Timeout;
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const startSlice = () => {
      const sliceMs = Math.min(remainingMs, maxTimerMs);
      remainingMs -= sliceMs;
      timer = setTimeout(remainingMs > 0 ? startSlice : finish, sliceMs);
    };
    const finish = () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    startSlice();
  });
}
