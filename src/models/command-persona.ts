import type { Budget } from "../domain/budget.ts";
import type { RunStep } from "../domain/durable-step.ts";
import { AttemptTimeout } from "../domain/errors.ts";
import { redact } from "../domain/redact.ts";
import type { TreeChange } from "../domain/tree.ts";
import type { Spent, TokenUsage } from "../domain/usage.ts";
import { AgentOutput } from "./agents/agent-output.ts";
import type { AgentReport } from "./agents/agent-report.ts";
import { readLastWord } from "./agents/last-word.ts";
import { raceAbort } from "./call-limits.ts";
import { commandName, commandSpend } from "./command-spend.ts";
import type { PersonaReturn } from "./model-persona.ts";
import type { CommandEnding, CommandPlace, RunCommand, ToolFiles } from "./ports.ts";
import { commandPrompt, type PersonaWork } from "./prompt.ts";

const maxOutputBytes = 256 * 1024;
const maxWords = 2000;

export const defaultCommandTimeoutMs = 3_600_000;

export interface CommandPersonaPorts {
  /** Program and arguments, as the team wrote them. */
  readonly argv: readonly string[];
  readonly runStep: RunStep;
  readonly runCommand: RunCommand;
  readonly place: CommandPlace;
  readonly files: Pick<ToolFiles, "hash" | "reapply">;
  readonly signal: AbortSignal;
  /** Keys that the agent needs; they are neither recorded nor part of what the step is found again by. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** What its author says one run may take: nobody can know it beforehand. */
  readonly reserve?: Budget;
  readonly onText?: (text: string) => void;
}

export interface CommandPersonaReturn extends PersonaReturn {
  readonly usage: TokenUsage | null;
  readonly cliSession: string | null;
  /** What the agent left in its folder and is not taken over. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** What is recorded of the command. The blobs that `changes` names must live as long as the record. */
type CommandOutcome = CommandPersonaReturn & {
  readonly costMicroUsd: number | null;
  readonly changes: readonly TreeChange[];
};

/** An agent's command line does the work, in a folder of its own; one step, because what it does within is its own. */
export async function runCommandPersona(
  work: PersonaWork,
  ports: CommandPersonaPorts,
): Promise<CommandPersonaReturn> {
  const { argv, runStep, files, signal } = ports;
  const name = commandName(argv);
  const prompt = commandPrompt(work);
  let reported: AgentReport | undefined;
  const outcome = await raceAbort(
    runStep<CommandOutcome>({
      kind: "command",
      name,
      input: { argv, prompt, tree: files.hash },
      dependency: name,
      spend: {
        model: name,
        ...commandSpend(ports.reserve),
        spent: (ended) => ("result" in ended ? spentOf(ended.result) : spentOf(reported)),
      },
      effect: () =>
        perform(ports, prompt, (report) => {
          reported = report;
        }),
    }),
    signal,
  );
  files.reapply(outcome.changes);
  const { changes: _, costMicroUsd: __, ...result } = outcome;
  return result;
}

async function perform(
  { argv, runCommand, place, signal, env, timeoutMs = defaultCommandTimeoutMs, onText }: CommandPersonaPorts,
  prompt: string,
  onReport: (report: AgentReport) => void,
): Promise<CommandOutcome> {
  const output = new AgentOutput((text) => onText?.(text));
  const { result, changes, refused } = await place.inFolder(async (directory) => {
    const ending = await runCommand({
      argv,
      directory,
      ...(env && { env }),
      stdin: prompt,
      timeoutMs,
      maxOutputBytes,
      signal,
      onOutput: (text, stream) => {
        if (stream === "stdout") output.add(text);
      },
    });
    const report = output.finish();
    onReport(report);
    throwIfFailed(argv[0] ?? "", ending, report, timeoutMs, signal);
    return report;
  });
  const { usage, costMicroUsd, cliSession, text } = result;
  const said = readLastWord(redact(text));
  const summary = said.summary === "" ? `${argv[0] ?? ""} ended without a word.` : said.summary;
  return { ...said, summary, usage, costMicroUsd, cliSession, changes, refused };
}

function throwIfFailed(
  program: string,
  ending: CommandEnding,
  report: AgentReport,
  timeoutMs: number,
  signal: AbortSignal,
): void {
  signal.throwIfAborted();
  if (ending.kind === "not-started") {
    const error = new Error(`${program} could not be started: ${ending.reason}`);
    throw Object.assign(error, { code: "ENOENT", syscall: `spawn ${program}` });
  }
  if (ending.kind === "timeout")
    throw new AttemptTimeout(`${program} did not end within ${timeoutMs} ms.`, {
      details: { program, timeoutMs },
      advice: "Give it a smaller task, or more time.",
    });
  if (ending.kind !== "exited") throw new Error(`${program} was ended from outside`);
  // The agent's own words first: they say whether its provider failed or its work did.
  if (report.error !== null) throw new Error(`${program}: ${words(report.error)}`);
  if (ending.code === 0) return;
  const last = words(ending.stderr.trim() || report.text || ending.stdout);
  throw new Error(`${program} ended with ${ending.code}${last === "" ? "" : `: ${last}`}`);
}

/** The end says what went wrong. */
const words = (text: string): string => redact(text.slice(-maxWords).toWellFormed().trim());

const spentOf = (said: { usage: TokenUsage | null; costMicroUsd: number | null } | undefined): Spent => ({
  usage: said?.usage ?? null,
  costMicroUsd: said?.costMicroUsd ?? null,
});
