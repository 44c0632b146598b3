import type { Budget, BudgetUnit } from "../../domain/budget.ts";
import { AttemptTimeout, ConfigInvalid, UnrecoverableError } from "../../domain/errors.ts";
import type { TreeChange } from "../../domain/tree.ts";
import { type Spend, type Spent, type TokenUsage, totalTokens } from "../../domain/usage.ts";
import type { RunStep } from "../../journal/durable-step.ts";
import type { PersonaReturn } from "../model/answer.ts";
import { raceAbort } from "../model/call-limits.ts";
import type { CommandEnding, CommandFolder, CommandPlace, RunCommand, ToolFiles } from "../model/ports.ts";
import { commandPrompt, continuePrompt, type PersonaWork } from "../model/prompt.ts";
import { ownerOf } from "../model/provider-table.ts";
import { agentNamed, commandName } from "./agent.ts";
import { type Hide, hideSecrets, thrownBy } from "./agent-error.ts";
import type { AgentReport } from "./agent-events.ts";
import { AgentOutput, endOf, readLastWord } from "./agent-output.ts";
import { fuller, noUse, since, spentBy, useToJson } from "./agent-use.ts";
import { isSessionName, knownAgents } from "./known-agents.ts";
import { noTranscript, type Transcript } from "./transcript.ts";

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
  /** What tokens of a model cost, by the model's name with its provider's. */
  readonly priceOf?: (model: string, usage: TokenUsage) => Promise<number | null>;
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
  let spent: Spent = unknownSpent;
  const outcome = await raceAbort(
    runStep<CommandOutcome>({
      kind: "command",
      name,
      input: { argv, prompt, tree: files.hash, ...(skills !== undefined && { skills }) },
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

/** What the agent wrote down of the conversation. */
export async function readTranscript(
  argv: readonly string[],
  home: string | undefined,
  session: string | null,
): Promise<Transcript> {
  const name = agentNamed(argv);
  if (name === undefined || home === undefined || session === null || !isSessionName(session))
    return noTranscript;
  return (await knownAgents[name].transcript?.(home, session)) ?? noTranscript;
}

interface AgentRun {
  readonly ending: CommandEnding;
  readonly report: AgentReport;
  readonly spent: Spent;
}

const unknownSpent: Spent = { usage: null, costMicroUsd: null };

async function runAgent(
  {
    argv,
    runCommand,
    signal,
    env,
    timeoutMs = defaultCommandTimeoutMs,
    onText,
    priceOf,
  }: CommandPersonaPorts,
  folder: CommandFolder,
  hide: Hide,
  asked: { readonly argv: readonly string[]; readonly stdin: string },
): Promise<AgentRun> {
  const before = await readTranscript(argv, folder.home, folder.session);
  let noted: Promise<void> = Promise.resolve();
  const output = new AgentOutput({
    hide,
    onText: (text) => onText?.(text),
    // A run that could not be resumed after a crash is still a good run.
    onSession: (session) => {
      noted = noted.then(() => folder.note(session, useToJson(before.used))).catch(() => {});
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
  const report = output.finish();
  // Its own sums have what it asked beside the conversation; without them, its transcript has every whole answer.
  const after = await readTranscript(argv, folder.home, report.cliSession);
  const use = fuller(since(report.use ?? noUse, before.restored), since(after.used, before.used));
  return { ending, report, spent: await spentBy(use, pricing(priceOf)) };
}

/** An agent names its models without their provider, or with it. */
export const pricing =
  (priceOf: CommandPersonaPorts["priceOf"]) =>
  async (model: string, usage: TokenUsage): Promise<number | null> => {
    const owner = model.includes("/") ? undefined : ownerOf(model);
    return (await priceOf?.(owner === undefined ? model : `${owner}/${model}`, usage)) ?? null;
  };

/** The agent does not know its conversation any more: it failed before it did anything, and not from an outage. */
function isLost({ ending, report: { error, cliSession }, spent: { usage } }: AgentRun): boolean {
  if (ending.kind !== "exited" || (ending.code === 0 && error === null)) return false;
  if (usage !== null && totalTokens(usage) > 0) return false;
  return error === null ? cliSession === null : error.status === null && error.unreachable !== true;
}

function endedWell(
  { argv, timeoutMs = defaultCommandTimeoutMs, signal }: CommandPersonaPorts,
  hide: Hide,
  run: AgentRun,
): AgentRun {
  const { ending, report } = run;
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
  if (ending.code === 0) return run;
  const last = endOf(hide(ending.stderr.trim() || report.text || ending.stdout), maxWords);
  const message = `${program} ended with ${ending.code}${last === "" ? "" : `: ${last}`}`;
  throw exitError(argv, message, last, ending.code);
}

/** Like the error of a failed tool: its text proves nothing about a provider. */
function exitError(argv: readonly string[], message: string, printed: string, code: number): Error {
  return Object.assign(new Error(message), { argv, stdout: "", stderr: printed, code: code || 1 });
}

/** An undeclared unit is unknown beforehand: a limit in that unit refuses the command. */
function commandSpend({ tokens, microUsd }: Budget = {}): Pick<Spend<never>, "asked" | "undeclared"> {
  const undeclared: BudgetUnit[] = [];
  if (tokens === undefined) undeclared.push("tokens");
  if (microUsd === undefined) undeclared.push("usd");
  return { asked: { tokens: tokens ?? 0, microUsd: microUsd ?? null }, undeclared };
}
