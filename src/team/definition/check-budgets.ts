import type { ReadPersona, ReadPhase } from "./read-phase.ts";
import type { BudgetDefinition } from "./team-definition.ts";

/** A command reports its cost only at its end, so under a budget it must reserve the most that one run may cost. */
export function checkBudgets(phases: readonly ReadPhase[], team: BudgetDefinition | null): void {
  for (const { definition, personas } of phases) {
    for (const persona of personas) checkReserve(persona, definition.budget, team);
  }
}

function checkReserve(
  { definition, described, place, isSound }: ReadPersona,
  phase: BudgetDefinition | null,
  team: BudgetDefinition | null,
): void {
  const { work, budget } = definition;
  if (work.kind !== "command" || !isSound) return;
  const limits = [
    ["its own", budget],
    ["its phase's", phase],
    ["the team's", team],
  ] as const;
  const at = described.as(place.title);
  for (const unit of ["tokens", "usd"] as const) {
    const asked = work.reserve?.[unit];
    for (const [whose, limit] of limits) {
      const most = limit?.[unit];
      if (most === undefined) continue;
      if (asked === undefined) {
        at.problem(
          `is a command under ${whose} budget of ${unit}: say in reserve.${unit} what one run may cost at most.`,
        );
        break;
      }
      if (asked > most) {
        at.problem(
          `reserves ${asked} ${unit} for a run, and ${whose} budget is ${most}: it could never run.`,
        );
        break;
      }
    }
  }
}
