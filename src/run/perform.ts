import { TeamInvalid } from "../domain/errors.ts";
import { keepSecret } from "../domain/redact.ts";
import { asReturn, conversationWork } from "../personas/conversation.ts";
import type { FunctionContext, Perform, PersonaFunction } from "../personas/function.ts";
import { type ModelAccess, performWithModel } from "../personas/model/perform.ts";
import type { Environment } from "../personas/model/provider-table.ts";
import type { Team } from "../team/define.ts";
import type { PersonaDefinition } from "../team/definition/team-definition.ts";
import type { PerformOf } from "./drive.ts";
import type { CommandPlace } from "./programs/command-place.ts";
import { toBudget } from "./spending.ts";

/** How a persona works: by its function, a model or a command. */
export function performOf(
  team: Team,
  model: string | undefined,
  access: ModelAccess,
  place: CommandPlace,
): PerformOf {
  return (phase, { name, work, policy, timeoutMs }) => {
    switch (work.kind) {
      case "function": {
        const run = functionOf(team, phase.name, name);
        const { priceOf } = access;
        return (context) => {
          const own: FunctionContext = { ...context, priceOf, keepSecret };
          return run(own);
        };
      }
      case "model": {
        const {
          instructions,
          maxSteps,
          maxTimeMs = null,
          maxOutputTokens,
          temperature,
          reasoning = null,
        } = work;
        const chosen = work.model ?? model;
        return performWithModel(
          {
            instructions,
            model: chosen,
            maxSteps,
            maxTimeMs,
            maxOutputTokens,
            temperature,
            reasoning,
            policy,
          },
          access,
        );
      }
      case "command":
        return performWithCommand(work, timeoutMs ?? undefined, access.env, place);
    }
  };
}

function functionOf(team: Team, phase: string, persona: string): PersonaFunction {
  const found = team.phases
    .find(({ name }) => name === phase)
    ?.personas.find(({ name }) => name === persona)?.run;
  if (found !== undefined) return found;
  throw new TeamInvalid(`The function of persona ${persona} in phase ${phase} is missing.`, {
    advice: "Pass the team with its functions to open({ teams: [...] }), or its file with --team.",
  });
}

type CommandWork = Extract<PersonaDefinition["work"], { readonly kind: "command" }>;

/**
 * The work of a persona that is an agent's command line, on a copy of the files; its changes are applied as a whole. After
 * a crash an agent that supports it resumes its own session in the same folder; any other command runs again from the
 * files it began with.
 */
function performWithCommand(
  work: CommandWork,
  timeoutMs: number | undefined,
  env: Environment,
  place: CommandPlace,
): Perform {
  return async (context) => {
    const { runCommandPersona } = await import("../personas/command/command-persona.ts");
    const { argv, network, readable = [], writable = [] } = work;
    const { conversation, signal } = context;
    const kept = place.kept(context.context.sessionId, conversation.started);
    const keeps = async (error: unknown): Promise<boolean> =>
      signal.aborted || (await import("./failure/classify-error.ts")).classifyError(error).outage;
    const {
      usage: _,
      cliSession,
      refused,
      ...returned
    } = await runCommandPersona(conversationWork(work.instructions ?? "", context), {
      argv,
      runStep: context.runStep,
      files: context.files,
      place: {
        inFolder: async (run) => {
          const ended = await kept.inFolder(context.files, run, keeps);
          // Inside the step, so that its record keeps the blobs alive.
          context.files.reapply(ended.changes);
          return ended;
        },
      },
      // Its own limit ends it: an agent may be silent until it is done.
      runCommand: (command) =>
        context.during(() =>
          place.run({
            ...command,
            network,
            readable,
            writablePlaces: writable,
            writable: "workspace",
          }),
        ),
      signal,
      env: passedThrough(work.env, env),
      onText: context.onText,
      reserve: toBudget(work.reserve),
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    await kept.forget();
    for (const { path, reason } of refused) context.log(`not taken over: ${path}: ${reason}`);
    if (cliSession !== null) context.log(`${argv[0]} session ${cliSession}`);
    return asReturn(returned);
  };
}

function passedThrough(names: readonly string[], env: Environment): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
