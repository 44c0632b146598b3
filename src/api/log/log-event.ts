import { isFailure, isTransition, loggedOf, markOf } from "../../journal/facts.ts";
import { isRecorded, type PublicFact, type SessionEvent } from "../../journal/public-fact.ts";
import { isAskingReason } from "../../journal/standing.ts";
import type { Log, LogLevel } from "./log.ts";

/** Logs the fact of a committed row. Live events, such as the text of a model, are never logged. */
export function logEvent(log: Log, event: SessionEvent): void {
  if (!isRecorded(event)) return;
  const { sessionId: session, seq, kind, phase, persona, round, attempt } = event;
  log({
    level: levelOf(event),
    message: messageOf(event),
    fields: {
      session,
      ...(phase !== null && { phase }),
      ...(persona !== null && { persona }),
      ...(round !== null && attempt !== null && { attempt: `r${round}a${attempt}` }),
      kind,
      seq,
    },
  });
}

function messageOf(fact: PublicFact): string {
  const message = loggedOf(fact);
  const raises = fact.kind === "session.status" && fact.reason !== null && isAskingReason(fact.reason);
  return raises ? `${message}; raises a ticket` : message;
}

function levelOf(fact: PublicFact): LogLevel {
  if (fact.kind === "session.status" && fact.status === "failed") return "error";
  const mark = markOf(fact);
  if (isFailure(fact) || fact.kind === "budget.alerted" || mark === "restart" || mark === "parked")
    return "warn";
  return isTransition(fact) ? "info" : "debug";
}
