import { type Clock, systemClock } from "../../../src/domain/clock.ts";

/** A clock that is ahead, because a probe and a posted ticket are taken over only after a minute. */
export function clockAhead(ms: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + ms };
}

/** A clock on which a minute passes in a second or two; processes with the same `since` and `speed` have the same time. */
export interface FastTime {
  readonly since: number;
  readonly speed: number;
}

export function fastClock({ since, speed }: FastTime): Clock {
  return {
    now: () => Math.floor(since + (systemClock.now() - since) * speed),
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
  };
}
