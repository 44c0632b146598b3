import type { Json } from "../domain/json.ts";
import type { PlannedTeam } from "../run/planning/plan-session.ts";
import { readState } from "../store/session-journal.ts";
import type { SessionRecord } from "../store/store.ts";
import { type Team, teamOf } from "../team/define.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";
import type { Services } from "./services.ts";

/**
 * The team of a new session, planned by rules if the team asks for it. A plan that costs money is made by the first
 * driver.
 */
export async function teamForBrief(team: Team, brief: string): Promise<PlannedTeam> {
  if (team.definition.planning !== "rules") return { team, decisions: [] };
  const [{ planFor }, { classifyByRules }] = await Promise.all([
    import("../run/planning/plan-session.ts"),
    import("../run/planning/classify-brief.ts"),
  ]);
  return planFor(team, classifyByRules(brief));
}

/**
 * The team that resumes a session: the given one, the registered one, or the recorded one if none of its personas
 * are code. A plan is replayed, never made again. Without a given team the recorded definition applies.
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

/** The team as recorded with the session. Undefined when a persona is code. */
export function recordedTeam(recorded: Json): Team | undefined {
  const definition = recordedDefinition(recorded);
  const needsCode = definition.phases.some(({ personas }) =>
    personas.some(({ work }) => work.kind === "function"),
  );
  return needsCode ? undefined : teamOf(definition, []);
}
