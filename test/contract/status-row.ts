import type { Transition } from "../../src/journal/journal.ts";
import type { SessionStatus } from "../../src/journal/standing.ts";

const error = { name: "HelpNeeded", code: "HELP_NEEDED", message: "help is needed" };

/** A row that puts a session into this status, with the data that the status needs. */
export function statusRow(status: SessionStatus): Transition {
  if (status === "parked") return { kind: "session.status", status, reason: "help", error };
  if (status === "failed") return { kind: "session.status", status, error };
  if (status === "paused") return { kind: "session.status", status, by: "person" };
  return { kind: "session.status", status } as Transition;
}

/** A row that parks a session until a breaker may be probed. */
export const breakerRow = (wakeAt: number, dependency?: string): Transition => ({
  kind: "session.status",
  status: "parked",
  reason: "breaker",
  error: dependency === undefined ? error : { ...error, details: { dependency } },
  wakeAt,
});
