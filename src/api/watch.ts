import type { SessionId } from "../domain/ids.ts";
import { FactReader } from "../journal/fact-reader.ts";
import { isCopied } from "../journal/journal.ts";
import { statusAfter } from "../journal/progress.ts";
import type { SessionEvent } from "../journal/public-fact.ts";
import { finalStatuses, type SessionStatus } from "../journal/standing.ts";
import type { Store } from "../store/store.ts";

/** How often the journal of a session that another process drives is polled. */
const pollEveryMs = 200;

export interface WatchOptions {
  /** Only events after this row. */
  readonly after?: number;
  /** Follow until the session stops; otherwise end at the last recorded row. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

/** A session's events from its journal. A caller that resumes with the last seq misses and repeats nothing. */
export async function* watchSession(
  store: Store,
  id: SessionId,
  { after = 0, follow = true, signal }: WatchOptions = {},
): AsyncGenerator<SessionEvent> {
  const facts = new FactReader();
  let head = 0;
  let status: SessionStatus = "queued";
  for (;;) {
    for await (const page of store.readJournal(id, head)) {
      for (const row of page) {
        head = row.seq;
        if (isCopied(row)) continue;
        const fact = facts.read(row);
        status = statusAfter(status, fact);
        if (row.seq > after) yield { sessionId: id, ...fact };
      }
    }
    if (!follow || signal?.aborted === true || hasStopped(status)) return;
    await pause(pollEveryMs, signal);
  }
}

/** True when only a person can continue the session. */
function hasStopped(status: SessionStatus): boolean {
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
