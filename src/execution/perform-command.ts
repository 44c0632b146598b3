import type { Budget } from "../domain/budget.ts";
import { InputInvalid } from "../domain/errors.ts";
import { changesBetween } from "../domain/tree.ts";
import type { CommandPlace } from "./command-place.ts";
import { conversationWork } from "./conversation-work.ts";
import { type PersonaPolicy, writeRule } from "./governance.ts";
import type { Perform, WorkContext } from "./persona-context.ts";

export interface CommandWork {
  readonly argv: readonly string[];
  readonly instructions: string;
  /** What one run may cost at most. */
  readonly reserve: Budget;
  readonly network: boolean;
  /** Names of variables that are passed through. */
  readonly env: readonly string[];
  readonly timeoutMs: number | undefined;
  readonly policy: PersonaPolicy;
}

export interface CommandParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly place: CommandPlace;
  readonly stateDirectory: string;
  readonly sandboxRequired?: boolean | undefined;
}

/**
 * An agent's command line does the work, on a copy of the files. What it changed is taken over as a whole or, when its
 * policy does not allow it, not at all. A crash in the middle runs the command again from the files it began with.
 */
export function performWithCommand(work: CommandWork, parts: CommandParts): Perform {
  return async (context) => {
    const [{ runCommandPersona }, { runCommand }] = await Promise.all([
      import("../models/command-persona.ts"),
      import("../workspace/command.ts"),
    ]);
    const { argv, instructions, reserve, network, timeoutMs, policy } = work;
    const before = context.files.tree;
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
        runCommand({
          ...command,
          network,
          writable: "workspace",
          hidden: [parts.stateDirectory],
          sandboxRequired: parts.sandboxRequired,
        }),
      signal: context.signal,
      env: passedThrough(work, parts),
      onText: context.onText,
      reserve,
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    for (const { path, reason } of refused) context.log(`not taken over: ${path}: ${reason}`);
    if (cliSession !== null) context.log(`${argv[0]} session ${cliSession}`);
    refuseForbidden(context, before, policy);
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

/** What it may not write is taken back, all of it, and told to its next attempt. */
function refuseForbidden(
  { files, persona }: WorkContext,
  before: WorkContext["files"]["tree"],
  policy: PersonaPolicy,
): void {
  const mayWrite = writeRule(policy);
  const forbidden = changesBetween(before, files.tree).filter(({ path }) => !mayWrite(path));
  if (forbidden.length === 0) return;
  files.reapply(changesBetween(files.tree, before));
  const paths = forbidden.map(({ path }) => path);
  throw new InputInvalid(`${persona} changed files that it may not write: ${paths.slice(0, 10).join(", ")}`, {
    details: { persona, paths },
    advice: `Write only: ${(policy.write ?? []).join(", ")}.`,
  });
}
