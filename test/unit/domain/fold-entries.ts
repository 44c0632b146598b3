import { applyRecorded } from "../../../src/domain/fold.ts";
import { newSessionId } from "../../../src/domain/ids.ts";
import type { Entry } from "../../../src/domain/journal.ts";
import { encodeEntry } from "../../../src/domain/journal-codec.ts";
import { emptyState, type SessionState } from "../../../src/domain/session-state.ts";

/** What a session is after these entries, written one after the other by one driver. */
export function foldEntries(entries: readonly Entry[]): SessionState {
  const state = emptyState(newSessionId());
  for (const [index, entry] of entries.entries()) {
    const seq = index + 1;
    applyRecorded(state, { ...encodeEntry(entry), seq, position: seq, epoch: 1, at: seq, hash: `${seq}` });
  }
  return state;
}
