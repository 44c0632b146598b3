import type { Json } from "../../domain/json.ts";
import { type Team, teamOf } from "../define.ts";
import { recordedDefinition } from "../definition/recorded.ts";
import { applyPlan, withoutPlanning } from "./apply-plan.ts";
import { phasesOf } from "./plan-session.ts";

/**
 * The team that a session goes on with: what was chosen for it stays chosen. If the team has changed since, the same
 * choice of the changed one is what the session is compared with.
 */
export function replayPlan(team: Team, recorded: Json): Team {
  if (team.definition.planning === undefined) return team;
  const before = recordedDefinition(recorded);
  const { plan } = before;
  // Its first driver has not planned it yet, or it began before the team asked for planning.
  if (plan === undefined)
    return before.planning === undefined ? teamOf(withoutPlanning(team.definition), team.phases) : team;
  const chosen = new Map(
    before.phases.map(({ name, personas }) => [name, new Set(personas.map((persona) => persona.name))]),
  );
  const definition = plan.from === team.fingerprint ? before : applyPlan(team.definition, chosen, plan);
  return teamOf(definition, phasesOf(definition, team.phases));
}
