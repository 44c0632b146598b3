import type { RecordedFailure } from "./journal.ts";
import type { AttemptState } from "./session-state.ts";

/** How a conversation began. An attempt that continues after an outage belongs to the conversation it continues. */
export interface Conversation {
  /** The seq of the first row of the attempt that began it. */
  readonly started: number;
  readonly round: number;
  readonly attempt: number;
  readonly reasons: readonly RecordedFailure[];
}

/** A continued attempt must send the same prompt as the first, or the fingerprints of recorded calls no longer match. */
export function conversationOf(attempt: AttemptState, attempts: readonly AttemptState[]): Conversation {
  let first = attempt;
  while (first.continues !== undefined) {
    const before = attempts.find(({ started }) => started === first.continues);
    if (before === undefined) break;
    first = before;
  }
  const reasons = attempts.slice(0, attempts.indexOf(first)).flatMap(({ failure }) => failure ?? []);
  return { started: first.started, round: first.round, attempt: first.attempt, reasons };
}
