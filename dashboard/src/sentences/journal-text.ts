import { isFailure, isTransition, markOf, sentenceOf } from "../../../src/journal/facts.ts";
import type { FactMark } from "../../../src/journal/public-fact.ts";
import type { JournalEntry, JournalFilter } from "../api/types.ts";
import { oneLine } from "../format/plain-text.ts";
import { clockSeconds, duration } from "../format/time.ts";
import type { StatusIcon, Tone } from "./status-word.ts";

export interface JournalLine {
  /** "implementation/backend_developer/r1a1", "session" */
  readonly place: string;
  readonly text: string;
  /** Elapsed time, at the right. */
  readonly measure: string;
  readonly mark: { readonly icon: StatusIcon | "restart"; readonly tone: Tone } | null;
}

export function journalLine(entry: JournalEntry): JournalLine {
  const mark = markOf(entry);
  return {
    place: placeOf(entry),
    text: `${oneLine(sentenceOf(entry), 300)}${untilText(entry)}`,
    measure: "tookMs" in entry && entry.tookMs !== null ? duration(entry.tookMs) : "",
    mark: mark === null ? null : marks[mark],
  };
}

/** "implementation/backend_developer/r1a1" */
export function placeOf({ phase, persona, round, attempt }: JournalEntry): string {
  if (phase === null) return "session";
  if (persona === null) return phase;
  return round === null ? `${phase}/${persona}` : `${phase}/${persona}/r${round}a${attempt ?? 1}`;
}

function untilText(entry: JournalEntry): string {
  if ("notBefore" in entry && entry.notBefore !== null)
    return `, next not before ${clockSeconds(Date.parse(entry.notBefore))}`;
  const ends = entry.kind === "session.directed" || !("until" in entry) ? null : entry.until;
  return ends === null ? "" : `, until ${clockSeconds(Date.parse(ends))}`;
}

const marks: Readonly<Record<FactMark, NonNullable<JournalLine["mark"]>>> = {
  good: { icon: "completed", tone: "completed" },
  bad: { icon: "failed", tone: "failed" },
  waits: { icon: "waits", tone: "parked" },
  reused: { icon: "reused", tone: "reused" },
  sealed: { icon: "sealed", tone: "ink" },
  restart: { icon: "restart", tone: "ink" },
  queued: { icon: "queued", tone: "quiet" },
  running: { icon: "running", tone: "running" },
  paused: { icon: "paused", tone: "quiet" },
  parked: { icon: "parked", tone: "parked" },
  completed: { icon: "completed", tone: "completed" },
  failed: { icon: "failed", tone: "failed" },
  canceled: { icon: "canceled", tone: "quiet" },
};

/** Whether a live entry belongs to the filtered list. The server filters with the same functions. */
export function matchesFilter(entry: JournalEntry, filter: JournalFilter): boolean {
  switch (filter) {
    case "all":
      return true;
    case "transitions":
      return isTransition(entry);
    case "failures":
      return isFailure(entry);
    case "money":
      // The ledger numbers its calls itself, so no live entry is one of them.
      return false;
  }
}
