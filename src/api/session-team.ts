import type { PlannedTeam } from "../run/planning/plan-session.ts";
import { recordedTeam } from "../run/recorded-team.ts";
import { readState } from "../store/session-journal.ts";
import type { SessionRecord } from "../store/store.ts";
import type { Team } from "../team/define.ts";
import type { HiveParts } from "./api-parts.ts";

/** The team that a new session gets: what its brief needs, if rules plan it. What costs money its first driver does. */
export async function teamForBrief(team: Team, brief: string): Promise<PlannedTeam> {
  if (team.definition.planning !== "rules") return { team, decisions: [] };
  const [{ planFor }, { classifyByRules }] = await Promise.all([
    import("../run/planning/plan-session.ts"),
    import("../run/planning/classify-brief.ts"),
  ]);
  return planFor(team, classifyByRules(brief));
}

/**
 * The team that a session goes on with: given, registered, or known from the session itself when no persona of it is
 * code. A plan is replayed, never made again; who gives no team has changed none, so that the record decides.
 */
export async function teamForSession(
  { id }: SessionRecord,
  { given, registered }: { readonly given: Team | undefined; readonly registered: Team | undefined },
  { store }: HiveParts,
): Promise<Team | undefined> {
  const team = given ?? registered;
  if (team !== undefined && team.definition.planning === undefined) return team;
  const { definition } = (await readState(store, id)).created;
  const recorded = given === undefined ? recordedTeam(definition) : undefined;
  if (recorded !== undefined || team === undefined) return recorded;
  return (await import("../run/planning/replay-plan.ts")).replayPlan(team, definition);
}
