import { checkBudgets } from "./check-budgets.ts";
import { checkConsumes } from "./check-consumes.ts";
import { checkContracts } from "./check-contracts.ts";
import { checkPhases } from "./check-phases.ts";
import { definitionLimits } from "./limits.ts";
import type { Problems } from "./place.ts";
import type { ReadPhase } from "./read-phase.ts";
import type { BudgetDefinition } from "./team-definition.ts";

/** Checks that need the whole team. */
export function checkTeam(
  phases: readonly ReadPhase[],
  budget: BudgetDefinition | null,
  problems: Problems,
): void {
  const isOrdered = checkPhases(phases, problems);
  checkConsumes(phases, isOrdered, problems);
  checkContracts(phases, isOrdered);
  checkBudgets(phases, budget);
  checkSize(phases);
}

/** One long text in a thousand phases is recorded a thousand times. */
function checkSize(phases: readonly ReadPhase[]): void {
  const size = phases.flatMap(({ personas }) => personas).reduce((sum, persona) => sum + persona.size, 0);
  const most = definitionLimits.characters;
  if (size <= most) return;
  const place = phases[0]?.place.as("the team");
  place?.problem(`has ${size} characters in all its phases together; at most ${most} are allowed.`);
}
