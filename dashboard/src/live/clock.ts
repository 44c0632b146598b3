import { useSyncExternalStore } from "react";

/**
 * One clock for the whole page. It ticks once a second for ages and countdowns and shows the server's time, because
 * "retries in 3 s" refers to the server's clock.
 */
let offsetMs = 0;
let tick = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** Small differences come from the network. Only a clock that is really wrong is corrected. */
const tolerableMs = 1500;

export function setServerTime(serverNow: number): void {
  const difference = serverNow - Date.now();
  offsetMs = Math.abs(difference) < tolerableMs ? 0 : difference;
}

export const serverNow = (): number => Date.now() + offsetMs;

/** Constant between ticks, so that all parts of the page agree. */
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

/** The shared clock. The component renders again once a second. */
export const useNow = (): number => useSyncExternalStore(onTick, currentTick);
