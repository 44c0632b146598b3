import type { Decision } from "../../journal/journal.ts";
import type { PlanDefinition, TeamDefinition } from "../../team/definition/team-definition.ts";
import { applyPlan, planOf } from "./apply-plan.ts";
import { chooseBlueprint, findBlueprint } from "./blueprints.ts";
import type { Classification, ModelPlan } from "./classification.ts";
import { decideBlueprint, decideContracts, decidePersonas } from "./decisions.ts";
import { additionsOf, staffAsSaid } from "./model-plan.ts";
import { staff } from "./staffing.ts";

/** The team of one session, and the decisions behind it. */
export interface TeamPlan {
  readonly definition: TeamDefinition;
  readonly decisions: readonly Decision[];
}

/** Pure: the same team, classification and model answer give the same plan. */
export function planTeam(
  team: TeamDefinition,
  classification: Classification,
  answer: ModelPlan = {},
): TeamPlan {
  const byRules = chooseBlueprint(classification);
  const blueprint = findBlueprint(answer.blueprint?.name ?? byRules.name) ?? byRules;
  const verdicts = new Map(
    team.phases.map((phase) => [
      phase.name,
      staffAsSaid(phase.name, staff(phase, classification, blueprint), answer),
    ]),
  );
  const chosen = new Map(
    [...verdicts].map(([phase, members]) => [
      phase,
      new Set([...members].flatMap(([name, { isChosen }]) => (isChosen ? [name] : []))),
    ]),
  );
  const { adds, rejected } = additionsOf(answer, team, blueprint);
  const plan = planOf(team, blueprint.name, classification.parallelism, adds);
  const made = applyPlan(team, chosen, plan);
  const definition = { ...made, plan: { ...plan, leaves: leftOut(team, made) } };
  return {
    definition,
    decisions: [
      decideBlueprint(classification, blueprint, answer.blueprint?.reason),
      decidePersonas(definition, verdicts),
      decideContracts(team, definition, blueprint, { adds, rejected: [...rejected, ...unasked(adds, made)] }),
    ],
  };
}

/** Files that the model requested from a persona that is not in the plan or takes no more files. */
function unasked(adds: NonNullable<PlanDefinition["adds"]>, { phases }: TeamDefinition): string[] {
  const people = phases.flatMap(({ personas }) => personas);
  return Object.entries(adds).flatMap(([name, files]) => {
    const owed = people.flatMap((one) => (one.name === name ? [one.contract.deliverables] : [])).flat();
    const why = people.some((one) => one.name === name)
      ? "its contract takes no more files"
      : "it is not part of the plan";
    const isOwed = (file: string) => owed.some((deliverable) => deliverable.files.includes(file));
    return Object.values(files).flatMap((file) => (isOwed(file) ? [] : [`${file} from ${name}: ${why}`]));
  });
}

function leftOut(team: TeamDefinition, made: TeamDefinition): NonNullable<PlanDefinition["leaves"]> {
  const works = new Map(made.phases.map(({ name, personas }) => [name, new Set(personas.map(nameOf))]));
  return Object.fromEntries(
    team.phases.map(({ name, personas }) => [
      name,
      personas.map(nameOf).filter((persona) => works.get(name)?.has(persona) !== true),
    ]),
  );
}

const nameOf = ({ name }: { readonly name: string }): string => name;
