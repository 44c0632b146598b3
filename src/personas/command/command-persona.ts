import type { Budget, BudgetUnit } from "../../domain/budget.ts";
import { AttemptTimeout, ConfigInvalid, UnrecoverableError } from "../../domain/errors.ts";
import type { TreeChange } from "../../domain/tree.ts";
import type { Spend, Spent, TokenUsage } from "../../domain/usage.ts";
import type { RunStep } from "../../journal/durable-step.ts";
import type { PersonaReturn } from "../model/answer.ts";
import { raceAbort } from "../model/call-limits.ts";
import type { CommandEnding, CommandFolder, CommandPlace, RunCommand, ToolFiles } from "../model/ports.ts";
import { commandPrompt, continuePrompt, type PersonaWork } from "../model/prompt.ts";
import { commandName, resumeArguments } from "./agent.ts";
import { type Hide, hideSecrets, thrownBy } from "./agent-error.ts";
import type { AgentReport } from "./agent-events.ts";
import { AgentOutput, endOf, readLastWord } from "./agent-output.ts";

const maxOutputBytes = 256 * 1024;
const maxWords = 2000;

const defaultCommandTimeoutMs = 3_600_000;

export interface CommandPersonaPorts {
  /** Program and arguments, as the team wrote them. */
  readonly argv: readonly string[];
  /** A hash of the skills in its home. */
  readonly skills?: string | undefined;
  readonly runStep: RunStep;
  readonly runCommand: RunCommand;
  readonly place: CommandPlace;
  readonly files: Pick<ToolFiles, "hash" | "reapply">;
  readonly signal: AbortSignal;
  /** Keys that the agent needs; they are neither recorded nor part of what the step is found again by. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** The declared maximum of one run: its cost cannot be known beforehand. */
  readonly reserve?: Budget;
  readonly onText?: (text: string) => void;
}

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
  let reported: AgentReport | undefined;
  const outcome = await raceAbort(
    runStep<CommandOutcome>({
      kind: "command",
      name,
      input: { argv, prompt, tree: files.hash, ...(skills !== undefined && { skills }) },
      dependency: name,
      spend: {
        model: name,
        ...commandSpend(ports.reserve),
        spent: (ended) => ("result" in ended ? spentOf(ended.result) : spentOf(reported)),
      },
      effect: () => {
        // A probe that failed is made again: what the run before it reported is not what this one takes.
        reported = undefined;
        return perform(ports, prompt, (report) => {
          reported = report;
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
  onReport: (report: AgentReport) => void,
): Promise<CommandOutcome> {
  const { argv, place, env } = ports;
  const hide = hideSecrets(env);
  const { result, changes, refused } = await place.inFolder(async (folder) => {
    const resumed = folder.session === null ? undefined : resumeArguments(argv, folder.session);
    if (resumed !== undefined) {
      const again = await runAgent(ports, folder, hide, { argv: resumed, stdin: continuePrompt });
      onReport(again.report);
      if (!isLost(again)) return endedWell(ports, hide, again);
    }
    // A new conversation does not know about the files of an earlier run.
    if (folder.session !== null) await folder.restart();
    const ended = await runAgent(ports, folder, hide, { argv, stdin: prompt });
    onReport(ended.report);
    return endedWell(ports, hide, ended);
  });
  const { cliSession, text } = result;
  const { usage, costMicroUsd } = counted(result);
  const said = readLastWord(text);
  const summary = said.summary === "" ? `${argv[0] ?? ""} ended without a word.` : said.summary;
  return { ...said, summary, usage, costMicroUsd, cliSession, changes, refused };
}

interface AgentRun {
  readonly ending: CommandEnding;
  readonly report: AgentReport;
}

async function runAgent(
  { runCommand, signal, env, timeoutMs = defaultCommandTimeoutMs, onText }: CommandPersonaPorts,
  folder: CommandFolder,
  hide: Hide,
  asked: { readonly argv: readonly string[]; readonly stdin: string },
): Promise<AgentRun> {
  let noted: Promise<void> = Promise.resolve();
  const output = new AgentOutput({
    hide,
    onText: (text) => onText?.(text),
    // A run that could not be resumed after a crash is still a good run.
    onSession: (session) => {
      noted = noted.then(() => folder.note(session)).catch(() => {});
    },
  });
  const ending = await runCommand({
    ...asked,
    directory: folder.directory,
    home: folder.home,
    ...(env && { env }),
    timeoutMs,
    maxOutputBytes,
    signal,
    onOutput: (text, stream) => {
      if (stream === "stdout") output.add(text);
    },
  });
  await noted;
  return { ending, report: output.finish() };
}

/** The agent does not know its conversation any more: it failed before it did anything, and not from an outage. */
function isLost({ ending, report: { usage, error, cliSession } }: AgentRun): boolean {
  if (ending.kind !== "exited" || (ending.code === 0 && error === null)) return false;
  const nothing = usage === null || usage.inputTokens + usage.outputTokens === 0;
  if (!nothing) return false;
  return error === null ? cliSession === null : error.status === null && error.unreachable !== true;
}

function endedWell(
  { argv, timeoutMs = defaultCommandTimeoutMs, signal }: CommandPersonaPorts,
  hide: Hide,
  { ending, report }: AgentRun,
): AgentReport {
  const program = argv[0] ?? "";
  signal.throwIfAborted();
  if (ending.kind === "not-started") {
    const message = `${program} could not be started: ${hide(ending.reason)}`;
    if (ending.permanent !== true)
      throw Object.assign(new Error(message), { code: "ENOENT", syscall: `spawn ${program}` });
    throw new ConfigInvalid(message, {
      details: { program },
      advice: `Install ${program}, or correct the persona's command. Then resume.`,
    });
  }
  if (ending.kind === "timeout")
    throw new AttemptTimeout(`${program} did not end within ${timeoutMs} ms.`, {
      details: { program, timeoutMs },
      advice: "Give it a smaller task, or more time: timeoutMs of the persona.",
    });
  if (ending.kind === "exceeded")
    throw new UnrecoverableError(`${program} was ended: ${ending.reason}.`, {
      details: { program },
      advice: "Give it a smaller task, or raise the limit: commands.memoryMiB, commands.diskMiB.",
    });
  if (ending.kind !== "exited") throw new Error(`${program} was ended from outside`);
  const { error } = report;
  // The agent's own word first: it says whether its provider failed or its work did.
  if (error !== null) {
    const words = endOf(hide(error.words), maxWords);
    if (error.status !== null || error.unreachable === true) throw thrownBy(program, { ...error, words });
    throw exitError(argv, `${program}: ${words}`, words, ending.code);
  }
  if (ending.code === 0) return report;
  const last = endOf(hide(ending.stderr.trim() || report.text || ending.stdout), maxWords);
  const message = `${program} ended with ${ending.code}${last === "" ? "" : `: ${last}`}`;
  throw exitError(argv, message, last, ending.code);
}

/** Like the error of a failed tool: its text proves nothing about a provider. */
function exitError(argv: readonly string[], message: string, printed: string, code: number): Error {
  return Object.assign(new Error(message), { argv, stdout: "", stderr: printed, code: code || 1 });
}

/** Work without a token was not counted: it may have taken what was reserved for it. */
function counted({ usage, costMicroUsd }: AgentReport): Pick<AgentReport, "usage" | "costMicroUsd"> {
  if (usage === null || (usage.inputTokens > 0 && usage.outputTokens > 0)) return { usage, costMicroUsd };
  return { usage: null, costMicroUsd: costMicroUsd === 0 ? null : costMicroUsd };
}

const spentOf = (said: { usage: TokenUsage | null; costMicroUsd: number | null } | undefined): Spent => ({
  usage: said?.usage ?? null,
  costMicroUsd: said?.costMicroUsd ?? null,
});

/** An undeclared unit is unknown beforehand: a limit in that unit refuses the command. */
function commandSpend({ tokens, microUsd }: Budget = {}): Pick<Spend<never>, "asked" | "undeclared"> {
  const undeclared: BudgetUnit[] = [];
  if (tokens === undefined) undeclared.push("tokens");
  if (microUsd === undefined) undeclared.push("usd");
  return { asked: { tokens: tokens ?? 0, microUsd: microUsd ?? null }, undeclared };
}
