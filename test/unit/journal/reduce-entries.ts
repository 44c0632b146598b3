import { newSessionId } from "../../../src/domain/ids.ts";
import type { Entry } from "../../../src/journal/journal.ts";
import { encodeEntry } from "../../../src/journal/journal-codec.ts";
import { reduce } from "../../../src/journal/reduce.ts";
import { emptyState, type SessionState } from "../../../src/journal/session-state.ts";

/** The state of a session after these entries, written one after the other by one driver. */
export function reduceEntries(entries: readonly Entry[]): SessionState {
  return entries.reduce((state, entry, index) => {
    const seq = index + 1;
    return reduce(state, { ...encodeEntry(entry), seq, epoch: 1, at: seq, hash: `${seq}` });
  }, emptyState(newSessionId()));
}
