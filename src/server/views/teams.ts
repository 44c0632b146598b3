import { isProvider, isReady } from "../../api/tables.ts";
import { simulatedName } from "../../domain/simulated.ts";
import type { Team } from "../../index.ts";
import type { TeamsView } from "../schemas/server.ts";

export interface RegisteredTeam {
  readonly team: Team;
  readonly file: string | undefined;
  readonly builtIn: boolean;
}

/** Models that the configuration or a team names, if they can be called from here. */
export function usableModels(
  teams: readonly RegisteredTeam[],
  model: string | undefined,
  env: NodeJS.ProcessEnv,
): readonly string[] {
  const named = new Set([
    ...(model === undefined ? [] : [model]),
    ...teams.flatMap(({ team: { definition } }) =>
      [definition.model ?? [], ...personaModels(definition)].flat(),
    ),
  ]);
  const usable = [...named].filter((name) => {
    const provider = name.split("/")[0] ?? "";
    return isProvider(provider) && isReady(provider, env);
  });
  return [...usable.toSorted(), simulatedName];
}

export function teamsView(
  teams: readonly RegisteredTeam[],
  model: string | undefined,
  env: NodeJS.ProcessEnv,
): TeamsView {
  return {
    teams: teams.map(({ team: { name, definition }, builtIn, file }) => ({
      name,
      model: definition.model,
      phases: definition.phases.map((phase) => phase.name),
      personas: new Set(definition.phases.flatMap(({ personas }) => personas.map((each) => each.name))).size,
      builtIn,
      file: file ?? null,
    })),
    models: [...usableModels(teams, model, env)],
  };
}

function personaModels({ phases }: Team["definition"]): string[] {
  return phases.flatMap(({ personas }) =>
    personas.flatMap(({ work }) => (work.kind === "model" && work.model !== null ? [work.model] : [])),
  );
}
