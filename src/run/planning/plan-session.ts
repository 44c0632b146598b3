import type { Decision } from "../../journal/journal.ts";
import type { SessionJournal } from "../../store/session-journal.ts";
import { type Team, teamOf } from "../../team/define.ts";
import { refuseBlocking } from "../../team/definition/integration.ts";
import { definitionJson, type TeamDefinition } from "../../team/definition/team-definition.ts";
import type { Phase } from "../../team/definition/written.ts";
import type { Classified } from "./classification.ts";
import { classifyByRules } from "./classify-brief.ts";
import { type AskModel, classifyWithModel } from "./classify-with-model.ts";
import { decideClassification } from "./decisions.ts";
import { planTeam } from "./plan-team.ts";
import { PlannerCall, type PlannerParts } from "./planner-call.ts";

/** The team that a session works with, and why it is this one. */
export interface PlannedTeam {
  readonly team: Team;
  readonly decisions: readonly Decision[];
}

/** The part of the team that a brief so classified needs. */
export function planFor(team: Team, classified: Classified): PlannedTeam {
  const { definition, decisions } = planTeam(team.definition, classified.classification, classified.plan);
  return {
    team: teamOf(definition, phasesOf(definition, team.phases)),
    decisions: [decideClassification(classified), ...decisions],
  };
}

export interface PlanningParts extends PlannerParts {
  readonly journal: SessionJournal;
  readonly askModel: (call: PlannerCall) => AskModel;
}

/**
 * By a model, as the first effect of the session: the plan, its decisions and what the call took are on record
 * together. Killed before, the next driver asks once more; what cannot be asked or paid for is left to the rules.
 */
export async function planSession(team: Team, parts: PlanningParts): Promise<Team> {
  const { journal, control, askModel } = parts;
  const { brief } = journal.state.created;
  const call = new PlannerCall(parts);
  const classified =
    team.definition.planning === "model"
      ? await classifyWithModel(brief, askModel(call), team.definition)
      : classifyByRules(brief);
  if (control.signal.aborted) {
    // No decision, but the call may have cost something.
    await journal.append([], call.effects);
    control.throwIfStopped();
  }
  const { team: planned, decisions } = planFor(team, classified);
  refuseBlocking(planned.definition, "Mend the contracts named, or write planning: off.");
  await journal.append(
    [
      {
        kind: "team.changed",
        definition: definitionJson(planned.definition),
        teamFingerprint: planned.fingerprint,
        changes: [`planned for the brief: ${describe(planned.definition)}`],
        reset: [],
        decisions,
      },
      ...decisions.map((decision) => ({ kind: "decision.recorded", ...decision }) as const),
    ],
    call.effects,
  );
  await call.recorded();
  return planned;
}

const describe = ({ phases }: TeamDefinition): string =>
  phases.map(({ name, personas }) => `${name} with ${personas.map((one) => one.name).join(", ")}`).join("; ");

/** The personas as written, in the order of the definition. */
export function phasesOf(definition: TeamDefinition, phases: readonly Phase[]): readonly Phase[] {
  return definition.phases.flatMap(({ name, personas }) => {
    const written = phases.find((phase) => phase.name === name);
    if (written === undefined) return [];
    const members = written.personas.filter((one) => personas.some((persona) => persona.name === one.name));
    return [{ ...written, personas: members }];
  });
}
