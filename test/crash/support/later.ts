import { type Clock, systemClock } from "../../../src/domain/clock.ts";

/** A clock that is ahead, for what is only taken over after a minute: a probe, a ticket under way. */
export function clockAhead(ms: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + ms };
}

/** A clock on which a minute passes in a second or two; whoever has the same `since` and `speed` has the same time. */
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
