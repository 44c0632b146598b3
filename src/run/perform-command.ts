import type { Budget } from "../domain/budget.ts";
import { asReturn, conversationWork } from "../personas/conversation.ts";
import type { Perform } from "../personas/function.ts";
import type { CommandPlace } from "./command-place.ts";

export interface CommandWork {
  readonly argv: readonly string[];
  readonly instructions: string;
  /** The most that one run may cost. */
  readonly reserve: Budget;
  readonly network: boolean;
  /** Places outside of the workspace that it may read, and those it may write too. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** Names of variables that are passed through. */
  readonly env: readonly string[];
  readonly timeoutMs: number | undefined;
}

export interface CommandParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly place: CommandPlace;
  readonly stateDirectory: string;
  readonly sandboxRequired?: boolean | undefined;
}

/**
 * The work of a persona that is an agent's command line, on a copy of the files; its changes are applied as a whole. After
 * a crash an agent that supports it resumes its own session in the same folder; any other command runs again from the
 * files it began with.
 */
export function performWithCommand(work: CommandWork, parts: CommandParts): Perform {
  return async (context) => {
    const [{ runCommandPersona }, { runCommand }] = await Promise.all([
      import("../personas/command/command-persona.ts"),
      import("../workspace/command.ts"),
    ]);
    const { argv, instructions, reserve, network, readable, writable, timeoutMs } = work;
    const { conversation, signal } = context;
    const kept = parts.place.kept(context.context.sessionId, conversation.started);
    const keeps = async (error: unknown): Promise<boolean> =>
      signal.aborted || (await import("./failure/classify-error.ts")).classifyError(error).outage;
    const {
      usage: _,
      cliSession,
      refused,
      ...returned
    } = await runCommandPersona(conversationWork(instructions, context), {
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
          runCommand({
            ...command,
            network,
            readable,
            writablePlaces: writable,
            writable: "workspace",
            hidden: [parts.stateDirectory],
            sandboxRequired: parts.sandboxRequired,
          }),
        ),
      signal,
      env: passedThrough(work, parts),
      onText: context.onText,
      reserve,
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    await kept.forget();
    for (const { path, reason } of refused) context.log(`not taken over: ${path}: ${reason}`);
    if (cliSession !== null) context.log(`${argv[0]} session ${cliSession}`);
    return asReturn(returned);
  };
}

function passedThrough({ env }: CommandWork, parts: CommandParts): Record<string, string> {
  return Object.fromEntries(
    env.flatMap((name) => {
      const value = parts.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
