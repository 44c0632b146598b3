import { constants } from "node:os";
import { boundFailures, createFailure, deduplicate, type Failure } from "../../domain/failure.ts";
import { type CommandOutput, linesOf, type OutputReader } from "./command-output.ts";
import type { Verdict } from "./error-chain.ts";
import { readSentence } from "./error-text.ts";
import { readCargo } from "./readers/cargo.ts";
import { readEslint } from "./readers/eslint.ts";
import { readGo } from "./readers/go.ts";
import { readJest } from "./readers/jest.ts";
import { readJunit } from "./readers/junit.ts";
import { readMocha } from "./readers/mocha.ts";
import { readNodeCrash } from "./readers/node-crash.ts";
import { readNodeTest } from "./readers/node-test.ts";
import { readNpm } from "./readers/npm.ts";
import { readPytest } from "./readers/pytest.ts";
import { readPython } from "./readers/python.ts";
import { readTsc } from "./readers/tsc.ts";
import { readVitest } from "./readers/vitest.ts";

export type { CommandOutput, OutputReader } from "./command-output.ts";

/** One command may run several tools, so every reader runs. */
const tools: readonly OutputReader[] = [
  readTsc,
  readEslint,
  readVitest,
  readJest,
  readNodeTest,
  readMocha,
  readPytest,
  readGo,
  readCargo,
  readJunit,
  readNpm,
];

/** Run only when no tool explains the exit: tools also print stacks of errors that they handled. */
const runtimes: readonly OutputReader[] = [readPython, readNodeCrash];

/**
 * Explains why a command failed. Exit code 0 gives no failures, and any other at least one.
 */
export function readOutput(output: CommandOutput): Failure[] {
  if (output.exitCode === 0) return [];
  const exit = readExit(output);
  const read = (readers: readonly OutputReader[]): Failure[] =>
    readers.flatMap((reader) => reader(output) ?? []);
  const found = [...(exit === undefined ? [] : [exit]), ...orElse(read(tools), () => read(runtimes))];
  return boundFailures(deduplicate(found.length > 0 ? found : [explainExit(output)]));
}

const orElse = (found: Failure[], otherwise: () => Failure[]): Failure[] =>
  found.length > 0 ? found : otherwise();

const lastLines = 40;
const searchedLines = 10;

/** A timeout or a signal, which explains the end without any output. */
function readExit({ exitCode, command }: CommandOutput): Failure | undefined {
  const name = command?.[0] ?? "the command";
  if (exitCode === 124) {
    // Not an outage: a command that never ends is a fault of the work.
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

/** No reader recognized the output: keep its last lines and classify by them. */
function explainExit(output: CommandOutput): Failure {
  const lines = linesOf(output).filter((line) => line.trim() !== "");
  const telling = lines.slice(-searchedLines).findLast((line) => suggests(line) !== undefined);
  const last = telling ?? lines.findLast((line) => !isNoise(line));
  const name = output.command?.[0] ?? "the command";
  const absent = output.exitCode === 127 || output.exitCode === 126;
  const verdict = absent ? missingTool : suggests(last ?? "");
  return createFailure({
    ...(verdict ?? { category: "UNKNOWN" }),
    // A line of output does not prove that the dependency failed rather than the work.
    outage: false,
    message: `${name} ended with exit code ${output.exitCode}${last === undefined ? "" : `: ${last.trim()}`}`,
    details: lines.slice(-lastLines).join("\n").slice(-4000),
    source: "exit",
    code: verdict?.code ?? String(output.exitCode),
  });
}

/** Not AUTH, which would end the attempts: a command that lacks rights can be changed. */
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
