import { CommanderError } from "commander";
import { MaestroError } from "../domain/errors.ts";
import { exitCodes } from "./exit-code.ts";
import { buildProgram } from "./program.ts";
import { plain } from "./terminal/words.ts";

/** The command line, from arguments to exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  // Whoever reads only the first lines closes the pipe; that is no fault of anybody, and no reason to leave a session
  // in the middle of its work: from here on nobody is told.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
  try {
    await buildProgram().parseAsync(argv, { from: "user" });
  } catch (error) {
    process.exitCode = explain(error, argv.includes("--debug"));
  }
}

/** One sentence what happened, one what to do, the code; the stack only for who asks. */
function explain(error: unknown, debug: boolean): number {
  const write = (text: string): void =>
    void process.stderr.write(`${text.split("\n").map(plain).join("\n")}\n`);
  if (error instanceof CommanderError) {
    // Commander has printed its own message already; asking for help is no error.
    if (error.exitCode === 0) return exitCodes.done;
    if (error.code === "commander.help") return exitCodes.usage;
    write("(INPUT_INVALID)");
    return exitCodes.usage;
  }
  if (MaestroError.is(error)) {
    write(`Error: ${error.message}`);
    if (error.advice !== undefined) write(error.advice);
    write(`(${error.code})`);
  } else {
    const message = error instanceof Error ? error.message : String(error);
    write(`Error: ${message}`);
    write("This is a bug in Maestro; --debug shows where.");
    write("(UNEXPECTED)");
  }
  if (debug && error instanceof Error) write(String(error.stack));
  return MaestroError.is(error) ? error.exitCode : exitCodes.bug;
}
