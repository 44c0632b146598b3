import { type Heartbeat, isKnownDead, type Owner } from "../owner.ts";

export type LeaseState = "free" | "held" | "dead" | "expired";

export interface Observation {
  readonly observer: Owner;
  readonly now: number;
  readonly uptimeMs: number;
  readonly leaseMs: number;
}

/** A dead process on this machine ends its lease at once; a silent one (stopped, or elsewhere) when the lease is over. */
export function leaseState(
  holder: Heartbeat | undefined,
  { observer, now, uptimeMs, leaseMs }: Observation,
): LeaseState {
  if (holder === undefined) return "free";
  if (isKnownDead(holder, observer)) return "dead";
  // Within one boot all processes share a clock that never jumps; across boots only the wall clock is left, and a
  // heartbeat from the future is as stale as one from the past.
  const silentMs =
    holder.boot === observer.boot ? uptimeMs - holder.beatUptimeMs : Math.abs(now - holder.beatAt);
  return silentMs > leaseMs ? "expired" : "held";
}
