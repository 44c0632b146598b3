import type { JournalEntry } from "../api/types.ts";
import { Store } from "./store.ts";

interface JournalTail {
  readonly sessionId: string;
  /** Newest first. */
  readonly entries: readonly JournalEntry[];
}

/** Entries received over the stream since the page was opened. */
export const journalTail = new Store<JournalTail>({ sessionId: "", entries: [] });

const mostEntries = 2000;

export function startTail(sessionId: string): void {
  if (journalTail.get().sessionId !== sessionId) journalTail.set({ sessionId, entries: [] });
}

export function addToTail(arrived: readonly JournalEntry[]): void {
  if (arrived.length === 0) return;
  const tail = journalTail.get();
  journalTail.set({ ...tail, entries: mergeEntries(tail.entries, arrived) });
}

/** Replayed entries may arrive twice. Keeps each seq once, newest first. */
export function mergeEntries(
  known: readonly JournalEntry[],
  arrived: readonly JournalEntry[],
): readonly JournalEntry[] {
  const newest = known[0]?.seq ?? -1;
  const fresh = arrived.filter(({ seq }) => seq > newest).sort((a, b) => b.seq - a.seq);
  const unique = fresh.filter(({ seq }, index) => seq !== fresh[index - 1]?.seq);
  return [...unique, ...known].slice(0, mostEntries);
}
