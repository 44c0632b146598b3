import type { SessionStatus } from "../domain/journal.ts";

export const exitCodes = {
  done: 0,
  bug: 1,
  usage: 2,
  failed: 3,
  parked: 4,
  damaged: 5,
  interrupted: 130,
} as const;

/** A session that is paused went as far as somebody asked. */
export function exitCodeOf(status: SessionStatus): number {
  if (status === "parked") return exitCodes.parked;
  return status === "failed" || status === "canceled" ? exitCodes.failed : exitCodes.done;
}
