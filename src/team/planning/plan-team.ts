import type { Decision } from "../../domain/journal.ts";
import type { TeamDefinition } from "../definition/team-definition.ts";
import { applyPlan, planOf } from "./apply-plan.ts";
import { chooseBlueprint } from "./blueprints.ts";
import type { Classification } from "./classification.ts";
import { decideBlueprint, decideContracts, decidePersonas } from "./decisions.ts";
import { staff } from "./staffing.ts";

/** The team of one session, and how it came about. */
export interface TeamPlan {
  readonly definition: TeamDefinition;
  readonly decisions: readonly Decision[];
}

/** Pure: the same team and classification give the same plan. */
export function planTeam(team: TeamDefinition, classification: Classification): TeamPlan {
  const blueprint = chooseBlueprint(classification);
  const verdicts = new Map(team.phases.map((phase) => [phase.name, staff(phase, classification, blueprint)]));
  const chosen = new Map(
    [...verdicts].map(([phase, members]) => [
      phase,
      new Set([...members].flatMap(([name, { isChosen }]) => (isChosen ? [name] : []))),
    ]),
  );
  const definition = applyPlan(team, chosen, planOf(team, blueprint.name, classification.parallelism));
  return {
    definition,
    decisions: [
      decideBlueprint(classification, blueprint),
      decidePersonas(definition, verdicts),
      decideContracts(team, definition, blueprint),
    ],
  };
}
