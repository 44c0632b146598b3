import type { FunctionContext } from "../personas/function.ts";
import { ownToolsOf } from "../personas/tools/offered-tools.ts";
import { type OwnTool, runsElsewhere } from "../personas/tools/own-tool.ts";
import type { FunctionPlace } from "../run/isolation/protocol.ts";
import type { Isolation } from "../run/isolation/run-in-child.ts";
import type { Persona, Team } from "../team/define.ts";

/**
 * The same team, but each attempt of a function persona runs in its own process, which loads the team file again.
 * The definition and the recorded steps are the same either way.
 */
export function isolatedTeam(team: Team, file: string, isolation: Isolation): Team {
  const { fingerprint } = team;
  const isolated = (phase: string, persona: Persona): Persona => {
    const place = { file, fingerprint, phase, persona: persona.name };
    if (persona.run === undefined)
      return { ...persona, ...isolatedTools(persona, place, isolation) } as Persona;
    return {
      ...persona,
      run: async (context) => {
        // Loaded by the first function, so that other personas do not pay for it.
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

/** Tools that a team defines in code: each call runs in its own process. */
function isolatedTools(
  { tools }: Persona,
  place: FunctionPlace,
  { memoryMb }: Isolation,
): Pick<Persona, "tools"> {
  const own = Object.entries(ownToolsOf(tools)).map(([name, tool]): [string, OwnTool] => [
    name,
    {
      ...tool,
      [runsElsewhere]: async (args, signal) => {
        const { runToolInChild } = await import("../run/isolation/tool-in-child.ts");
        return runToolInChild(place, name, args, memoryMb, signal);
      },
    },
  ]);
  return own.length === 0 ? {} : { tools: Object.fromEntries(own) };
}
