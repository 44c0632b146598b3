import type { PlannedRun } from "../cost/forecast.ts";
import type { SessionState } from "../journal/session-state.ts";
import { commandName } from "../personas/command/agent.ts";
import type { TeamDefinition } from "../team/definition/team-definition.ts";

/** A persona's work as the ledger will know it. What code calls, only its past says. */
export function plannedRun(
  definition: TeamDefinition,
  of: { readonly phase: string; readonly persona: string },
  model: string | undefined,
): PlannedRun | undefined {
  const { phase, persona } = of;
  const work = definition.phases
    .find(({ name }) => name === phase)
    ?.personas.find(({ name }) => name === persona)?.work;
  switch (work?.kind) {
    case undefined:
      return undefined;
    case "function":
      return { phase, persona };
    case "command":
      return { phase, persona, model: commandName(work.argv) };
    case "model":
      return { phase, persona, model: work.model ?? model ?? definition.model ?? "" };
  }
}

/** Of everything that has no result yet. */
export function runsLeft(definition: TeamDefinition, state: SessionState): PlannedRun[] {
  return definition.phases.flatMap(({ name: phase, personas }) =>
    personas.flatMap(({ name: persona }) => {
      if (state.phases.get(phase)?.personas.get(persona)?.result !== undefined) return [];
      return plannedRun(definition, { phase, persona }, state.created.model) ?? [];
    }),
  );
}
