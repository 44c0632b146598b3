import type { Amount } from "../domain/budget.ts";
import type { CommandPlace } from "./command-place.ts";
import { conversationWork } from "./conversation-work.ts";
import type { Perform } from "./persona-context.ts";

export interface CommandWork {
  readonly argv: readonly string[];
  readonly instructions: string;
  /** What one run may cost at most. */
  readonly reserve: Amount | undefined;
  readonly network: boolean;
  /** Names of variables that are passed through. */
  readonly env: readonly string[];
  readonly timeoutMs: number | undefined;
}

export interface CommandParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly place: CommandPlace;
  readonly stateDirectory: string;
}

/**
 * An agent's command line does the work, on a copy of the files; what it changed is taken over as a whole. A crash in the middle runs the command again from the files it began with.
 */
export function performWithCommand(work: CommandWork, parts: CommandParts): Perform {
  return async (context) => {
    const [{ runCommandPersona }, { runCommand }] = await Promise.all([
      import("../models/command-persona.ts"),
      import("../workspace/command.ts"),
    ]);
    const { argv, instructions, reserve, network, timeoutMs } = work;
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
          const ended = await parts.place.inFolder(context.files, run);
          // Inside the step, so that its record keeps the blobs alive.
          context.files.reapply(ended.changes);
          return ended;
        },
      },
      runCommand: (command) =>
        runCommand({ ...command, network, writable: "workspace", hidden: [parts.stateDirectory] }),
      signal: context.signal,
      env: passedThrough(work, parts),
      onText: context.onText,
      ...(reserve !== undefined && { asked: reserve }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    for (const { path, reason } of refused) context.log(`not taken over: ${path}: ${reason}`);
    if (cliSession !== null) context.log(`${argv[0]} session ${cliSession}`);
    return { ...returned, decisions: [] };
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
