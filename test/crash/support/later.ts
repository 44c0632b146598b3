import { type Clock, systemClock } from "../../../src/domain/clock.ts";

/** A clock that is ahead, for what is only taken over after a minute: a probe, a ticket under way. */
export function clockAhead(ms: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + ms };
}
