import type { Budget, BudgetUnit } from "../../domain/budget.ts";
import type { TreeChange } from "../../domain/tree.ts";
import { type Spend, type Spent, type TokenUsage, totalTokens } from "../../domain/usage.ts";
import type { PersonaReturn } from "../model/answer.ts";
import { raceAbort } from "../model/call-limits.ts";
import { commandPrompt, continuePrompt, type PersonaWork } from "../model/prompt.ts";
import { agentNamed, commandName } from "./agent.ts";
import { endedWell } from "./agent-ending.ts";
import { hideSecrets } from "./agent-error.ts";
import { readLastWord } from "./agent-output.ts";
import { type AgentRun, runAgent, unknownSpent } from "./agent-run.ts";
import type { CommandPersonaPorts } from "./command-ports.ts";
import { isSessionName, knownAgents } from "./known-agents.ts";

interface CommandPersonaReturn extends PersonaReturn {
  readonly usage: TokenUsage | null;
  readonly cliSession: string | null;
  /** Files of the agent's folder that are not taken over. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** The record of the command. The blobs that `changes` names must live as long as the record. */
type CommandOutcome = CommandPersonaReturn & {
  readonly costMicroUsd: number | null;
  readonly changes: readonly TreeChange[];
};

/** An agent's command line does the work, in a folder of its own; one step, because what it does within is its own. */
export async function runCommandPersona(
  work: PersonaWork,
  ports: CommandPersonaPorts,
): Promise<CommandPersonaReturn> {
  const { argv, skills, runStep, files, signal } = ports;
  const name = commandName(argv);
  const prompt = commandPrompt(work);
  let spent: Spent = unknownSpent;
  const outcome = await raceAbort(
    runStep<CommandOutcome>({
      kind: "command",
      name,
      input: { ...ports.written, prompt, tree: files.hash, ...(skills !== undefined && { skills }) },
      dependency: name,
      spend: {
        model: name,
        ...commandSpend(ports.reserve),
        spent: (ended) =>
          "result" in ended ? { usage: ended.result.usage, costMicroUsd: ended.result.costMicroUsd } : spent,
      },
      effect: () => {
        // A probe that failed is made again: what the run before it reported is not what this one takes.
        spent = unknownSpent;
        return perform(ports, prompt, (run) => {
          spent = run;
        });
      },
    }),
    signal,
  );
  files.reapply(outcome.changes);
  const { changes: _, costMicroUsd: __, ...result } = outcome;
  return result;
}

async function perform(
  ports: CommandPersonaPorts,
  prompt: string,
  onSpent: (spent: Spent) => void,
): Promise<CommandOutcome> {
  const { argv, place, env } = ports;
  const hide = hideSecrets(env);
  const { result, changes, refused } = await place.inFolder(async (folder) => {
    const resumed = folder.session === null ? undefined : resumeArguments(argv, folder.session);
    if (resumed !== undefined) {
      const again = await runAgent(ports, folder, hide, { argv: resumed, stdin: continuePrompt });
      onSpent(again.spent);
      if (!isLost(again)) return endedWell(ports, hide, again);
    }
    // A new conversation does not know about the files of an earlier run.
    if (folder.session !== null) await folder.restart();
    const ended = await runAgent(ports, { ...folder, session: null }, hide, { argv, stdin: prompt });
    onSpent(ended.spent);
    return endedWell(ports, hide, ended);
  });
  const { spent, report } = result;
  const { cliSession, text } = report;
  const said = readLastWord(text);
  const summary = said.summary === "" ? `${argv[0] ?? ""} ended without a word.` : said.summary;
  const { usage, costMicroUsd } = spent;
  return { ...said, summary, usage, costMicroUsd, cliSession, changes, refused };
}

/** The command line that resumes the conversation; undefined for an agent without a known way to resume. */
export function resumeArguments(argv: readonly string[], session: string): readonly string[] | undefined {
  const name = agentNamed(argv);
  if (name === undefined || !isSessionName(session)) return undefined;
  return knownAgents[name].resume?.(argv, session);
}

/** The agent has lost its conversation: it failed before it did anything, and not from an outage. */
function isLost({ ending, report: { error, cliSession }, spent: { usage } }: AgentRun): boolean {
  if (ending.kind !== "exited" || (ending.code === 0 && error === null)) return false;
  if (usage !== null && totalTokens(usage) > 0) return false;
  if (error === null) return cliSession === null;
  return error.status === null && error.unreachable !== true && error.isOwnLimit !== true;
}

/** An undeclared unit is unknown beforehand: a limit in that unit refuses the command. */
function commandSpend({ tokens, microUsd }: Budget = {}): Pick<Spend<never>, "asked" | "undeclared"> {
  const undeclared: BudgetUnit[] = [];
  if (tokens === undefined) undeclared.push("tokens");
  if (microUsd === undefined) undeclared.push("usd");
  return { asked: { tokens: tokens ?? 0, microUsd: microUsd ?? null }, undeclared };
}
