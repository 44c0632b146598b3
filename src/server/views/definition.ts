import type { Team } from "../../index.ts";
import type { SessionState } from "../../journal/session-state.ts";

export type Definition = Team["definition"];
export type PersonaDefinition = Definition["phases"][number]["personas"][number];

/** Not validated: the journal's hash chain protects it. */
export function definitionOf({ created }: SessionState): Definition {
  const recorded = (created.definition ?? {}) as Partial<Definition>;
  return {
    name: created.team,
    model: null,
    parallel: 4,
    budget: null,
    protect: [],
    phases: [],
    ...recorded,
  };
}

export function findPersona(
  definition: Definition,
  phase: string,
  persona: string,
): PersonaDefinition | undefined {
  return definition.phases.find(({ name }) => name === phase)?.personas.find(({ name }) => name === persona);
}
