import type { Json } from "../../domain/json.ts";
import { type Team, teamOf } from "../../team/define.ts";
import { teamFingerprint } from "../../team/definition/fingerprint.ts";
import { recordedDefinition } from "../../team/definition/recorded.ts";
import type { PlanDefinition, TeamDefinition } from "../../team/definition/team-definition.ts";
import { applyPlan, withoutPlanning } from "./apply-plan.ts";
import { phasesOf } from "./plan-session.ts";

/**
 * The planned team of an existing session: the recorded choice stays. If the team has changed since, the same choice is
 * applied to the changed team, and the session is compared with that.
 */
export function replayPlan(team: Team, recorded: Json): Team {
  if (team.definition.planning === undefined) return team;
  const before = recordedDefinition(recorded);
  const { plan } = before;
  // Its first driver has not planned it yet, or the team did not ask for planning when it began.
  if (plan === undefined)
    return before.planning === undefined ? teamOf(withoutPlanning(team.definition), team.phases, team) : team;
  const definition = plan.from === team.fingerprint ? before : sameChoice(team, before, plan);
  return teamOf(definition, phasesOf(definition, team.phases), team);
}

/** The chosen and the new personas of the changed team; a change to any other persona is ignored. */
function sameChoice(team: Team, before: TeamDefinition, plan: PlanDefinition): TeamDefinition {
  const { leaves } = plan;
  const chosen = new Map(
    before.phases.map(({ name, personas }) => {
      const left = leaves === undefined ? undefined : (leaves[name] ?? []);
      const now = team.definition.phases.find((phase) => phase.name === name)?.personas ?? [];
      const later = left === undefined ? [] : now.filter((persona) => !left.includes(persona.name));
      return [name, new Set([...personas, ...later].map((persona) => persona.name))];
    }),
  );
  const same = applyPlan(team.definition, chosen, plan);
  if (teamFingerprint(same) === teamFingerprint(before)) return before;
  // Reverting a change is a change.
  return { ...same, plan: { ...plan, from: team.fingerprint } };
}
