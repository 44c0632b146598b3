import type { SessionId } from "../../domain/ids.ts";
import type { ClaimCause } from "../../journal/journal.ts";
import { ruleOf } from "../../journal/standing.ts";
import type { Candidate, Claim } from "../journal.ts";
import type { SessionRecord } from "../session-record.ts";

/** The order of places: sessions that a dead driver left first, then those whose time has come, longest waiting first. */
export function takeOrder(abandoned: readonly SessionId[], due: readonly SessionId[]): readonly SessionId[] {
  return [...new Set([...abandoned, ...due])];
}

/** A session whose driver died before it was asked to run has nothing to drive: its driver's last files are finished. */
export function candidateOf(session: SessionRecord, isDue: boolean): Candidate {
  return { session, isToDrive: isDue || session.status === "running" || wakesByItself(session) };
}

const wakesByItself = ({ reason }: SessionRecord): boolean =>
  reason !== undefined && ruleOf(reason).wakes === true;

/** A driver that ended cleanly leaves nothing to recover from. */
export function causeOf({ isToDrive }: Candidate, found: Claim["found"]): ClaimCause {
  if (!isToDrive) return "signal";
  return found === "free" ? "start" : "recovery";
}
