import type { Team } from "../team/define.ts";
import type { ClaimedSession } from "./drive.ts";

/**
 * Everything that must work on the files as they were given, before a model is asked. What is done is a row, so a later
 * drive does not repeat it. Throws `SetupFailed`, which parks the session; a person's resume tries again.
 */
export async function prepareSource(team: Team, session: ClaimedSession): Promise<void> {
  if (session.journal.state.created.source === undefined) return;
  const { measureBaseline } = await import("./baseline.ts");
  await measureBaseline(team, session);
}
