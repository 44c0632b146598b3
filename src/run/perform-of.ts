import { TeamInvalid } from "../domain/errors.ts";
import type { FunctionContext, Perform, PersonaFunction } from "../personas/function.ts";
import { type ModelAccess, performWithModel } from "../personas/model/perform.ts";
import type { Team } from "../team/define.ts";
import type { PersonaDefinition, PhaseDefinition } from "../team/definition/team-definition.ts";
import { type CommandParts, performWithCommand } from "./perform-command.ts";
import { toBudget } from "./spending.ts";

/** The port through which a run calls a persona: its function, a model, or a command. */
export function performOf(
  team: Team,
  model: string | undefined,
  parts: ModelAccess & CommandParts,
): (phase: PhaseDefinition, persona: PersonaDefinition) => Perform {
  return (phase, { name, work, policy, timeoutMs }) => {
    switch (work.kind) {
      case "function": {
        const run = functionOf(team, phase.name, name);
        const { priceOf } = parts;
        return (context) => {
          const own: FunctionContext = { ...context, priceOf };
          return run(own);
        };
      }
      case "model": {
        const { instructions, maxSteps, maxTimeMs = null, maxOutputTokens, temperature } = work;
        const chosen = work.model ?? model;
        return performWithModel(
          { instructions, model: chosen, maxSteps, maxTimeMs, maxOutputTokens, temperature, policy },
          parts,
        );
      }
      case "command":
        return performWithCommand(
          {
            argv: work.argv,
            instructions: work.instructions ?? "",
            reserve: toBudget(work.reserve),
            network: work.network,
            readable: work.readable ?? [],
            writable: work.writable ?? [],
            env: work.env,
            timeoutMs: timeoutMs ?? undefined,
          },
          parts,
        );
    }
  };
}

function functionOf(team: Team, phase: string, persona: string): PersonaFunction {
  const found = team.phases
    .find(({ name }) => name === phase)
    ?.personas.find(({ name }) => name === persona)?.run;
  if (found !== undefined) return found;
  throw new TeamInvalid(`The code of persona ${persona} in phase ${phase} is not here.`, {
    advice: "Give the team with its functions to open({ teams: [...] }), or its file with --team.",
  });
}
