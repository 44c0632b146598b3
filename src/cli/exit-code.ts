import type { SessionStatus } from "../journal/standing.ts";

export const exitCodes = {
  done: 0,
  bug: 1,
  usage: 2,
  failed: 3,
  parked: 4,
  damaged: 5,
  interrupted: 130,
} as const;

/** A paused session did what was requested. */
export function exitCodeOf(status: SessionStatus): number {
  if (status === "parked") return exitCodes.parked;
  return status === "failed" || status === "canceled" ? exitCodes.failed : exitCodes.done;
}
