import type { Decision } from "../../journal/journal.ts";
import { type Team, teamOf } from "../../team/define.ts";
import { refuseBlocking } from "../../team/definition/integration.ts";
import { definitionJson, type TeamDefinition } from "../../team/definition/team-definition.ts";
import type { Phase } from "../../team/definition/written.ts";
import type { Drive } from "../drive.ts";
import type { Classified } from "./classification.ts";
import { classifyByRules } from "./classify-brief.ts";
import { classifyWithModel } from "./classify-with-model.ts";
import { decideClassification } from "./decisions.ts";
import { planTeam } from "./plan-team.ts";
import { PlannerCall } from "./planner-call.ts";

/** The team of a session, and the decisions behind it. */
export interface PlannedTeam {
  readonly team: Team;
  readonly decisions: readonly Decision[];
}

/** The part of the team that the classified brief needs. */
export function planFor(team: Team, classified: Classified): PlannedTeam {
  const { definition, decisions } = planTeam(team.definition, classified.classification, classified.plan);
  return {
    team: teamOf(definition, phasesOf(definition, team.phases), team),
    decisions: [decideClassification(classified), ...decisions],
  };
}

/**
 * Plans the team as the first effect of the session. The plan, its decisions and the cost of the call are one commit;
 * after a crash before it, the next driver asks the model again. Without a model or a budget, the rules decide.
 */
export async function planSession(team: Team, model: string | undefined, drive: Drive): Promise<Team> {
  const { journal, control } = drive;
  const { brief } = journal.state.created;
  const call = new PlannerCall(drive);
  const classified =
    team.definition.planning === "model"
      ? await classifyWithModel(brief, drive.askModel(team, model, call), team.definition)
      : classifyByRules(brief);
  if (control.signal.aborted) {
    // Nothing is decided, but the call may have cost something.
    await journal.append([], call.effects);
    control.throwIfStopped();
  }
  const { team: planned, decisions } = planFor(team, classified);
  refuseBlocking(planned.definition, "Fix the contracts named, or write planning: off.");
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
