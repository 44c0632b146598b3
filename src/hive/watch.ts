import { applyRecorded } from "../domain/fold.ts";
import type { SessionId } from "../domain/ids.ts";
import { finalStatuses } from "../domain/journal.ts";
import { emptyState, type SessionState } from "../domain/session-state.ts";
import type { Store } from "../state/store.ts";
import { describeRow, type SessionEvent } from "../team/event.ts";

/** How often the journal of a session that another process drives is looked at. */
const lookEveryMs = 200;

export interface WatchOptions {
  /** Only what came after this row. */
  readonly after?: number;
  /** Go on until the session has come to an end; else stop at the end of what is recorded. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

/** A session's events from its journal, by seq: whoever comes back with the last one misses and repeats nothing. */
export async function* watchSession(
  store: Store,
  id: SessionId,
  { after = 0, follow = true, signal }: WatchOptions = {},
): AsyncGenerator<SessionEvent> {
  const state = emptyState(id);
  for (;;) {
    for await (const page of store.readJournal(id, state.head.seq)) {
      for (const row of page) {
        // Before it is applied: an event of an attempt that this row ends still knows whose it was.
        const event = row.seq > after ? describeRow(state, row) : undefined;
        applyRecorded(state, row);
        if (event !== undefined) yield event;
      }
    }
    if (!follow || signal?.aborted === true || hasEnded(state)) return;
    await pause(lookEveryMs, signal);
  }
}

/** Nothing more happens without a person's word. */
function hasEnded({ status }: SessionState): boolean {
  return finalStatuses.includes(status) || status === "parked" || status === "paused";
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}
