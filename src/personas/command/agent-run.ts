import type { Spent, TokenUsage } from "../../domain/usage.ts";
import type { CommandEnding, CommandFolder } from "../model/ports.ts";
import { ownerOf } from "../model/provider-table.ts";
import { agentNamed } from "./agent.ts";
import type { Hide } from "./agent-error.ts";
import { type AgentReport, noReport } from "./agent-events.ts";
import { AgentOutput } from "./agent-output.ts";
import { fuller, noUse, since, spentBy, useToJson } from "./agent-use.ts";
import { AgentWatch, type Stopped } from "./agent-watch.ts";
import type { CommandPersonaPorts } from "./command-ports.ts";
import { isSessionName, knownAgents } from "./known-agents.ts";
import { noTranscript, type Transcript } from "./transcript.ts";

const maxOutputBytes = 256 * 1024;

export interface AgentRun {
  readonly ending: CommandEnding;
  readonly report: AgentReport;
  readonly spent: Spent;
  /** Why Maestro ended it. */
  readonly stopped: Stopped | undefined;
}

export const unknownSpent: Spent = { usage: null, costMicroUsd: null };

export async function runAgent(
  { argv, runCommand, signal, env, timeoutMs, onText, priceOf, reserve }: CommandPersonaPorts,
  folder: CommandFolder,
  hide: Hide,
  asked: { readonly argv: readonly string[]; readonly stdin: string },
): Promise<AgentRun> {
  const before = await readTranscript(argv, folder.home, folder.session);
  let noted: Promise<void> = Promise.resolve();
  let session: string | null = null;
  let reported: AgentReport = noReport;
  // Its own sums have what it asked beside the conversation; without them, its transcript has every whole answer.
  const spent = async (report: AgentReport): Promise<Spent> => {
    const after = await readTranscript(argv, folder.home, report.cliSession ?? session);
    const use = fuller(since(report.use ?? noUse, before.restored), since(after.used, before.used));
    return spentBy(use, pricing(priceOf));
  };
  const watch = new AgentWatch(reserve, () => spent(reported));
  const output = new AgentOutput({
    hide,
    onText: (text) => onText?.(text),
    onReport: (report) => {
      reported = report;
      watch.heard(report);
    },
    // A run that could not be resumed after a crash is still a good run.
    onSession: (name) => {
      session = name;
      noted = noted.then(() => folder.note(name, useToJson(before.used))).catch(() => {});
    },
  });
  const ending = await runCommand({
    ...asked,
    directory: folder.directory,
    home: folder.home,
    ...(env && { env }),
    timeoutMs,
    maxOutputBytes,
    signal: AbortSignal.any([signal, watch.signal]),
    onOutput: (text, stream) => {
      if (stream === "stdout") output.add(text);
    },
  }).finally(() => watch.close());
  await noted;
  const report = output.finish();
  return { ending, report, spent: await spent(report), stopped: watch.stopped };
}

/** An agent names its models without their provider, or with it. */
export const pricing =
  (priceOf: CommandPersonaPorts["priceOf"]) =>
  async (model: string, usage: TokenUsage): Promise<number | null> => {
    const owner = model.includes("/") ? undefined : ownerOf(model);
    return (await priceOf?.(owner === undefined ? model : `${owner}/${model}`, usage)) ?? null;
  };

/** Reads the agent's own record of the conversation. */
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
