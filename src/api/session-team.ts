import type { Json } from "../domain/json.ts";
import type { PlannedTeam } from "../run/planning/plan-session.ts";
import { readState } from "../store/session-journal.ts";
import type { SessionRecord } from "../store/store.ts";
import { type Team, teamOf } from "../team/define.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";
import type { Services } from "./services.ts";

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
  { store }: Services,
): Promise<Team | undefined> {
  const team = given ?? registered;
  if (team !== undefined && team.definition.planning === undefined) return team;
  const { definition } = (await readState(store, id)).created;
  const recorded = given === undefined ? recordedTeam(definition) : undefined;
  if (recorded !== undefined || team === undefined) return recorded;
  return (await import("../run/planning/replay-plan.ts")).replayPlan(team, definition);
}

/** The team of a session from its own record; undefined when the code of a persona would be missing. */
export function recordedTeam(recorded: Json): Team | undefined {
  const definition = recordedDefinition(recorded);
  const needsCode = definition.phases.some(({ personas }) =>
    personas.some(({ work }) => work.kind === "function"),
  );
  return needsCode ? undefined : teamOf(definition, []);
}
