import type { FunctionContext } from "../personas/function.ts";
import type { Isolation } from "../run/isolation/run-in-child.ts";
import type { Persona, Team } from "../team/define.ts";

/**
 * The same team, but each attempt of a function persona runs in a process of its own, which loads the team's file again. A
 * team has the same definition and records the same steps in either way.
 */
export function isolatedTeam(team: Team, file: string, isolation: Isolation): Team {
  const { fingerprint } = team;
  const isolated = (phase: string, persona: Persona): Persona => {
    if (persona.run === undefined) return persona;
    const place = { file, fingerprint, phase, persona: persona.name };
    return {
      ...persona,
      run: async (context) => {
        // Loaded by the first function: other personas do not pay for it.
        const { runInChild } = await import("../run/isolation/run-in-child.ts");
        return runInChild(context as FunctionContext, place, isolation);
      },
    };
  };
  const phases = team.phases.map((phase) => ({
    ...phase,
    personas: phase.personas.map((persona) => isolated(phase.name, persona)),
  }));
  return { ...team, phases };
}
