import { boundFailures, deduplicate, type Failure } from "../../domain/failure.ts";
import type { CommandOutput, OutputReader } from "./command-output.ts";
import { explainExit, readExit } from "./exit-failure.ts";
import { readEslint } from "./readers/eslint.ts";
import { readJest } from "./readers/jest.ts";
import { readNodeCrash } from "./readers/node-crash.ts";
import { readNodeTest } from "./readers/node-test.ts";
import { readNpm } from "./readers/npm.ts";
import { readPytest } from "./readers/pytest.ts";
import { readPython } from "./readers/python.ts";
import { readTsc } from "./readers/tsc.ts";
import { readVitest } from "./readers/vitest.ts";

export type { CommandOutput, OutputReader } from "./command-output.ts";

/** One command may run several tools, so all of these are asked. */
const tools: readonly OutputReader[] = [
  readTsc,
  readEslint,
  readVitest,
  readJest,
  readNodeTest,
  readPytest,
  readNpm,
];

/** Asked only when no tool explains the exit: tools print stacks of errors that they handled. */
const runtimes: readonly OutputReader[] = [readPython, readNodeCrash];

/**
 * Explains why a command failed. The exit code decides whether it did: 0 gives no failures, whatever was printed;
 * anything else gives at least one.
 */
export function readOutput(output: CommandOutput): Failure[] {
  if (output.exitCode === 0) return [];
  const exit = readExit(output);
  const read = (readers: readonly OutputReader[]): Failure[] =>
    readers.flatMap((reader) => reader(output) ?? []);
  const told = [...(exit === undefined ? [] : [exit]), ...orElse(read(tools), () => read(runtimes))];
  return boundFailures(deduplicate(told.length > 0 ? told : [explainExit(output)]));
}

const orElse = (found: Failure[], otherwise: () => Failure[]): Failure[] =>
  found.length > 0 ? found : otherwise();
