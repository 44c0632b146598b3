import { useSyncExternalStore } from "react";

/**
 * One clock for the whole page: it ticks once a second for ages and countdowns, and shows the server's time, because
 * "retries in 3 s" is about the server's clock and not about this machine's.
 */
let offsetMs = 0;
let tick = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** Small differences are the network's; only a clock that is really wrong is corrected. */
const tolerableMs = 1500;

export function setServerTime(serverNow: number): void {
  const difference = serverNow - Date.now();
  offsetMs = Math.abs(difference) < tolerableMs ? 0 : difference;
}

export const serverNow = (): number => Date.now() + offsetMs;

/** Stays the same between ticks, so that everything on the page agrees. */
export const currentTick = (): number => tick;

function onTick(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    tick = serverNow();
    timer = setInterval(() => {
      tick = serverNow();
      for (const each of listeners) each();
    }, 1000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The shared clock: the component is drawn again once a second. */
export const useNow = (): number => useSyncExternalStore(onTick, currentTick);
