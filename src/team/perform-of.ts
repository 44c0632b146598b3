import { TeamInvalid } from "../domain/errors.ts";
import { type CommandParts, performWithCommand } from "../execution/perform-command.ts";
import { type ModelParts, performWithModel } from "../execution/perform-model.ts";
import type { FunctionContext, Perform, PersonaFunction } from "../execution/persona-context.ts";
import type { Team } from "./define.ts";
import type { PersonaDefinition, PhaseDefinition } from "./definition/team-definition.ts";
import { toBudget } from "./spending.ts";

/** What does a persona's work: its function, a model, or a command. */
export function performOf(
  team: Team,
  model: string | undefined,
  parts: ModelParts & CommandParts,
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
