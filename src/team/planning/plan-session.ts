import type { Budget } from "../../domain/budget.ts";
import type { Decision } from "../../domain/journal.ts";
import { type Team, teamOf } from "../define.ts";
import type { TeamDefinition } from "../definition/team-definition.ts";
import type { Phase } from "../definition/written.ts";
import type { Classified } from "./classification.ts";
import { classifyByRules } from "./classify-brief.ts";
import { type AskModel, classifyWithModel, instead } from "./classify-with-model.ts";
import { decideClassification } from "./decisions.ts";
import { planTeam } from "./plan-team.ts";

/** The team that a session is started with, and why it is this one. */
export interface PlannedTeam {
  readonly team: Team;
  readonly decisions: readonly Decision[];
}

export interface Planning {
  readonly brief: string;
  readonly ask: AskModel;
  /** Over all sessions. */
  readonly dayBudget: Budget;
}

/** Decides once, before the session exists. A team that does not ask for planning is taken as it is. */
export async function planSession(team: Team, planning: Planning): Promise<PlannedTeam> {
  if (team.definition.planning === undefined) return { team, decisions: [] };
  const classified = await classify(team.definition, planning);
  const { definition, decisions } = planTeam(team.definition, classified.classification);
  return {
    team: teamOf(definition, phasesOf(definition, team.phases)),
    decisions: [decideClassification(classified), ...decisions],
  };
}

async function classify(
  { planning, budget }: TeamDefinition,
  { brief, ask, dayBudget }: Planning,
): Promise<Classified> {
  if (planning !== "model") return classifyByRules(brief);
  // Never overspend: what cannot be reserved is not spent.
  if (budget !== null || dayBudget.tokens !== undefined || dayBudget.microUsd !== undefined) {
    const why = "There is a budget, and a call before the session exists cannot be reserved in it";
    return instead(classifyByRules(brief), why, "the model");
  }
  return classifyWithModel(brief, ask);
}

/** As written, of those who are there: one for one with the definition. */
export function phasesOf(definition: TeamDefinition, phases: readonly Phase[]): readonly Phase[] {
  return definition.phases.flatMap(({ name, personas }) => {
    const written = phases.find((phase) => phase.name === name);
    if (written === undefined) return [];
    const members = written.personas.filter((one) => personas.some((persona) => persona.name === one.name));
    return [{ ...written, personas: members }];
  });
}
