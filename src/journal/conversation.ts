import type { ProtectedChange } from "../domain/put-back.ts";
import type { AttemptState } from "./session-state.ts";
import type { RecordedFailure } from "./values.ts";

/** The start of a conversation. An attempt that continues after an outage belongs to the conversation it continues. */
export interface Conversation {
  /** The seq of the first row of the attempt that began it. */
  readonly started: number;
  readonly round: number;
  readonly attempt: number;
  readonly reasons: readonly RecordedFailure[];
  /** Changes to protected files by earlier attempts. */
  readonly putBack: readonly ProtectedChange[];
}

/** A continued attempt must send the same prompt as the first, or the fingerprints of recorded calls no longer match. */
export function conversationOf(attempt: AttemptState, attempts: readonly AttemptState[]): Conversation {
  let first = attempt;
  while (first.continues !== undefined) {
    const before = attempts.find(({ started }) => started === first.continues);
    if (before === undefined) break;
    first = before;
  }
  const earlier = attempts.slice(0, attempts.indexOf(first));
  const reasons = earlier.flatMap(({ failure }) => failure ?? []);
  return {
    started: first.started,
    round: first.round,
    attempt: first.attempt,
    reasons,
    putBack: putBackIn(earlier),
  };
}

/** The changes to protected files in these attempts, each path once. */
export function putBackIn(attempts: readonly AttemptState[]): readonly ProtectedChange[] {
  const all = attempts.flatMap(({ putBack }) => putBack?.files ?? []);
  return [...new Map(all.map((change) => [change.path, change])).values()];
}
