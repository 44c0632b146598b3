import type { QueryClient } from "@tanstack/react-query";
import { endsAttempt } from "../../../src/journal/facts.ts";
import type { StreamEvent } from "../api/event-stream.ts";
import { breakersQuery, statusQuery } from "../api/queries.ts";
import type { BreakerView, SessionRow, SessionView, StreamEvents } from "../api/types.ts";
import type { Announcement } from "../live/announcements.ts";
import { applyChange } from "../live/apply-change.ts";
import { onStreamEvents, onStreamReset } from "../live/connection.ts";
import { addToTail } from "../live/journal-tail.ts";
import { addLive } from "../live/live-persona.ts";
import { addLiveRows, clearLiveRows, liveRows } from "../live/rows.ts";
import { sessionWord } from "../sentences/status-word.ts";
import { say } from "./announcer.tsx";

/** Stores the events of a frame where the page reads them. */
export function connectLiveData(queries: QueryClient): void {
  onStreamReset(() => {
    clearLiveRows();
    void queries.invalidateQueries();
  });
  onStreamEvents((events) => {
    const rows = pick(events, "session");
    say(...announcementsOf(rows));
    addLiveRows(rows);
    addToTail(pick(events, "entry"));
    addLive(pick(events, "text"), pick(events, "step"));
    const status = pick(events, "status").at(-1);
    // Steps and changes are sent only to a connected page, so after a hello read those of the gap. The change for
    // the last row may have been due when the previous connection closed.
    if (events.some(({ event }) => event === "hello"))
      for (const name of ["steps", "session"]) void queries.invalidateQueries({ queryKey: [name] });
    if (status !== undefined) queries.setQueryData(statusQuery.queryKey, status);
    for (const breaker of pick(events, "breaker")) setBreaker(queries, breaker);
    applyChanges(queries, events);
  });
}

function pick<Name extends keyof StreamEvents>(
  events: readonly StreamEvent[],
  name: Name,
): StreamEvents[Name][] {
  return events.filter(({ event }) => event === name).map(({ data }) => data as StreamEvents[Name]);
}

function setBreaker(queries: QueryClient, breaker: BreakerView): void {
  queries.setQueryData(breakersQuery.queryKey, (known) => {
    if (known === undefined) return known;
    const others = known.breakers.filter(({ name }) => name !== breaker.name);
    const breakers = [...others, breaker].sort((a, b) => a.name.localeCompare(b.name));
    return { breakers };
  });
}

/** The stream covers only the session on the page. */
let followed: readonly string[] = [];

export function followSession(...names: readonly string[]): void {
  followed = names;
}

function applyChanges(queries: QueryClient, events: readonly StreamEvent[]): void {
  const changes = pick(events, "change");
  const entries = pick(events, "entry");
  if (changes.length === 0 && entries.length === 0) return;
  for (const name of followed) {
    queries.setQueryData<SessionView>(["session", name], (view) => {
      if (view === undefined) return view;
      const changed = changes.reduce(applyChange, view);
      if (changed.status !== view.status || changed.reason !== view.reason) say(announcementOf(changed));
      const newest = entries.at(-1)?.seq ?? 0;
      return newest > changed.entries ? { ...changed, entries: newest } : changed;
    });
    // An answer that was requested before this change may be older and would replace it.
    if (queries.isFetching({ queryKey: ["session", name] }) > 0)
      void queries.invalidateQueries({ queryKey: ["session", name] });
  }
  if (entries.some(({ kind }) => kind === "checkpoint.sealed"))
    void queries.invalidateQueries({ queryKey: ["checkpoints"] });
  if (entries.some(endsAttempt))
    for (const name of ["tree", "steps", "persona"]) void queries.invalidateQueries({ queryKey: [name] });
}

/** Announces only transitions, not that a session spent more. */
function announcementsOf(rows: readonly SessionRow[]): Announcement[] {
  const known = liveRows.get();
  return rows.filter((row) => isTransition(row, known.get(row.id))).map(announcementOf);
}

/** The first streamed row of a session has no predecessor. It is a transition if the session just stopped. */
function isTransition({ status, since, updatedAt }: SessionRow, before: SessionRow | undefined): boolean {
  if (before !== undefined) return before.status !== status;
  return since === updatedAt && status !== "queued" && status !== "running";
}

function announcementOf({
  status,
  reason,
  key,
  id,
}: Pick<SessionRow, "status" | "reason" | "key" | "id">): Announcement {
  const { word, reason: why } = sessionWord(status, reason);
  const text = `${key ?? id}: ${why === undefined ? word : `${word} for ${why}`}.`;
  return { text, urgent: status === "parked" || status === "failed" };
}
