import type { Team } from "../../index.ts";
import type { SessionState } from "../../journal/session-state.ts";

/** A team as data, as it is recorded with a session. */
export type Definition = Team["definition"];
export type PersonaDefinition = Definition["phases"][number]["personas"][number];

/** The journal's chain vouches for it; what an older version left out is filled in. */
export function definitionOf({ created }: SessionState): Definition {
  const recorded = (created.definition ?? {}) as Partial<Definition>;
  return {
    name: created.team,
    model: null,
    parallel: 4,
    budget: null,
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
