import { teamFingerprint } from "../../team/definition/fingerprint.ts";
import type {
  PersonaDefinition,
  PhaseDefinition,
  PlanDefinition,
  TeamDefinition,
} from "../../team/definition/team-definition.ts";
import { findBlueprint } from "./blueprints.ts";
import type { Parallelism } from "./classification.ts";
import { mapPersonas, wire, withAdditions } from "./contracts.ts";

/** The personas of each phase. A phase that is not named keeps all of its personas. */
export type Chosen = ReadonlyMap<string, ReadonlySet<string>>;

const mostAtOnce: Readonly<Record<Parallelism, number>> = { few: 2, some: 3, many: Number.POSITIVE_INFINITY };

/** The part of a team for one session. Pure: the same choice always gives the same definition. */
export function applyPlan(team: TeamDefinition, chosen: Chosen, plan: PlanDefinition): TeamDefinition {
  const blueprint = findBlueprint(plan.blueprint);
  const phases = team.phases.map((phase) => ({ ...phase, personas: personasOf(phase, chosen) }));
  const parallel = Math.min(team.parallel, mostAtOnce[plan.parallelism]);
  return wire(
    mapPersonas({ ...withoutPlanning(team), plan, parallel, phases }, (persona) =>
      withAdditions(persona, { ...plan.adds?.[persona.name], ...blueprint?.adds[persona.name] }),
    ),
  );
}

/** The team as it is, without a plan. */
export function withoutPlanning(team: TeamDefinition): TeamDefinition {
  const { planning: _, ...rest } = team;
  return rest;
}

export const planOf = (
  team: TeamDefinition,
  blueprint: string,
  parallelism: Parallelism,
  adds: NonNullable<PlanDefinition["adds"]>,
): PlanDefinition => ({
  from: teamFingerprint(team),
  blueprint,
  parallelism,
  ...(Object.keys(adds).length > 0 && { adds }),
});

/** Keeps more personas than chosen where a phase would be empty or its gate would have nothing to judge. */
function personasOf(phase: PhaseDefinition, chosen: Chosen): readonly PersonaDefinition[] {
  const names = chosen.get(phase.name);
  const kept = phase.personas.filter(({ name }) => names === undefined || names.has(name));
  if (kept.length === 0) return phase.personas;
  if (phase.gate === null || kept.some(canBeJudged)) return kept;
  const judged = phase.personas.find(canBeJudged);
  return phase.personas.filter((persona) => kept.includes(persona) || persona === judged);
}

function canBeJudged({ contract: { deliverables, outputs, checks } }: PersonaDefinition): boolean {
  return outputs !== undefined || [...deliverables, ...checks].some(({ weight }) => weight > 0);
}
