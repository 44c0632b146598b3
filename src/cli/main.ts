import { CommanderError } from "commander";
import { MaestroError } from "../domain/errors.ts";
import { buildProgram } from "./program.ts";

const bugExitCode = 1;
const usageExitCode = 2;

/** The command line, from arguments to exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await buildProgram().parseAsync(argv, { from: "user" });
  } catch (error) {
    process.exitCode = explain(error, argv.includes("--debug"));
  }
}

/** One sentence what happened, one what to do, the code; the stack only for who asks. */
function explain(error: unknown, debug: boolean): number {
  // Commander has printed its own message already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode;
  if (MaestroError.is(error)) {
    process.stderr.write(`Error: ${error.message}\n`);
    if (error.advice !== undefined) process.stderr.write(`${error.advice}\n`);
    process.stderr.write(`(${error.code})\n`);
  } else {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`Error: ${message}\nThis is a bug in Maestro; --debug shows where.\n(UNEXPECTED)\n`);
  }
  if (debug && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return MaestroError.is(error) ? error.exitCode : bugExitCode;
}
