import { checkOwners } from "./check-owners.ts";
import type { ReadPersona, ReadPhase } from "./read-phase.ts";

export function checkContracts(phases: readonly ReadPhase[], isOrdered: boolean): void {
  checkOwners(phases, isOrdered);
  for (const phase of phases) checkGate(phase);
}

/** A gate without anything to judge would let everything pass. */
function checkGate({ definition, place, personas }: ReadPhase): void {
  // An unreadable persona may have the contract.
  if (definition.gate === null || personas.length === 0 || !personas.every(({ isSound }) => isSound)) return;
  if (personas.some(({ definition }) => weightOf(definition.contract) > 0)) return;
  place
    .at("gate")
    .as(place.title)
    .problem(
      "has a gate and nothing to judge: give a persona of it a contract with deliverables, outputs or checks.",
    );
}

function weightOf({ deliverables, outputs, checks }: ReadPersona["definition"]["contract"]): number {
  const judged = [...deliverables, ...checks].reduce((sum, { weight }) => sum + weight, 0);
  return judged + (outputs === undefined ? 0 : 1);
}
