import type { SessionJournal } from "../../store/session-journal.ts";

/**
 * The decisions that made the team, as rows of the session, before its first phase. In one append and known by their
 * titles: killed before or after it, they stand there once.
 */
export async function recordPlan(journal: SessionJournal): Promise<void> {
  const { created, decisions } = journal.state;
  const known = new Set(
    decisions.flatMap(({ title, phase, persona }) => ((phase ?? persona) === undefined ? [title] : [])),
  );
  const rows = (created.decisions ?? [])
    .filter(({ title }) => !known.has(title))
    .map((decision) => ({ kind: "decision.recorded", ...decision }) as const);
  if (rows.length > 0) await journal.append(rows);
}
