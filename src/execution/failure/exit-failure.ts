import { constants } from "node:os";
import { createFailure, type Failure } from "../../domain/failure.ts";
import { type CommandOutput, linesOf } from "./command-output.ts";
import { readSentence } from "./error-text.ts";
import type { Verdict } from "./verdict.ts";

const lastLines = 40;
const searchedLines = 10;

/** What the way a command ended says by itself, whatever it printed. */
export function readExit({ exitCode, command }: CommandOutput): Failure | undefined {
  const name = command?.[0] ?? "the command";
  if (exitCode === 124) {
    // Not an outage: a command that never ends is the work's fault, and asking again would not help.
    return createFailure({
      category: "TIMEOUT",
      message: `${name} ran out of time`,
      source: "exit",
      code: "124",
    });
  }
  if (exitCode !== null && (exitCode <= 128 || exitCode > 128 + 31)) return undefined;
  const signal = exitCode === null ? undefined : signalName(exitCode - 128);
  const by = signal ?? "a signal";
  const why = exitCode === 137 ? ", most often for want of memory" : "";
  return createFailure({
    category: "RESOURCE",
    message: `${name} was ended by ${by}${why}`,
    source: "exit",
    code: exitCode === null ? "signal" : by,
  });
}

/** Nothing recognized the output: the last lines, and what their words suggest. */
export function explainExit(output: CommandOutput): Failure {
  const lines = linesOf(output).filter((line) => line.trim() !== "");
  const telling = lines.slice(-searchedLines).findLast((line) => suggests(line) !== undefined);
  const last = telling ?? lines.findLast((line) => !isNoise(line));
  const name = output.command?.[0] ?? "the command";
  const absent = output.exitCode === 127 || output.exitCode === 126;
  const verdict = absent ? missingTool : suggests(last ?? "");
  return createFailure({
    ...(verdict ?? { category: "UNKNOWN" }),
    // A sentence in a tool's output is no proof that the dependency failed rather than the work.
    outage: false,
    message: `${name} ended with exit code ${output.exitCode}${last === undefined ? "" : `: ${last.trim()}`}`,
    details: lines.slice(-lastLines).join("\n").slice(-4000),
    source: "exit",
    code: verdict?.code ?? String(output.exitCode),
  });
}

/** Rights are left out: a command that lacks them can be changed, and AUTH would end the attempts. */
function suggests(line: string): Verdict | undefined {
  const verdict = readSentence(line);
  return verdict?.category === "AUTH" ? undefined : verdict;
}

const missingTool: Verdict = {
  category: "IMPORT",
  suggestedFix: "Install the command or correct its name.",
};

const isNoise = (line: string): boolean =>
  /^(?:Node\.js v\d|npm (?:error|ERR!) (?:A complete log|command|path|Lifecycle script)|npm (?:error|ERR!)$)/.test(
    line,
  );

const signalName = (number: number): string =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`;
