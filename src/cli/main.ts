import { type Command, CommanderError } from "commander";
import { advise } from "../domain/advice.ts";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid, MaestroError } from "../domain/errors.ts";
import { exitCodes } from "./exit-code.ts";
import { adviceLines, say, sayLines, sayWrapped } from "./output.ts";
import { buildProgram } from "./program.ts";
import { plain } from "./terminal/format.ts";
import { startSpinner, stopSpinner } from "./terminal/spinner.ts";

/** The command line, from arguments to exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  // A reader that closes the pipe early must not stop a session: output is dropped from then on.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
  try {
    const spinning = new Set<string>();
    const program = buildProgram(spinning);
    refuseUnknownHelp(program, argv);
    const ordered = commandFirst(argv);
    const [command = ""] = ordered;
    if (spinning.has(command)) startSpinner(command);
    await program.parseAsync(ordered, { from: "user" });
  } catch (error) {
    process.exitCode = explain(error, argv.includes("--debug"));
  } finally {
    stopSpinner();
  }
}

/** Global flags may stand before the command: `maestro --json sessions`. */
function commandFirst(argv: readonly string[]): readonly string[] {
  let at = 0;
  for (let flag = argv[0]; flag !== undefined; flag = argv[at]) {
    if (flag === "--state-dir") at += 2;
    else if (flag.startsWith("--state-dir=") || flag === "--json" || flag === "--debug") at += 1;
    else break;
  }
  const command = argv.slice(at, at + 1);
  return command[0]?.startsWith("-") !== false
    ? argv
    : [...command, ...argv.slice(0, at), ...argv.slice(at + 1)];
}

/** Without this check, Commander would print the help of the whole program. */
function refuseUnknownHelp(program: Command, [command, about]: readonly string[]): void {
  if (command !== "help" || about === undefined || about.startsWith("-")) return;
  const known = program.commands.map((each) => each.name());
  if (known.includes(about) || about === "help") return;
  throw new InputInvalid(`There is no command "${about}".${didYouMean(about, known)}`, {
    advice: advise("List the commands", "--help"),
  });
}

/** Prints what happened, what to do, and the code; the stack only with --debug. */
function explain(error: unknown, debug: boolean): number {
  const write = (text: string): void => sayWrapped(text.split("\n").map(plain).join("\n"), "error");
  if (error instanceof CommanderError) {
    // Commander has printed its own message already.
    if (error.exitCode === 0) return exitCodes.done;
    if (error.code === "commander.help") return exitCodes.usage;
    write("(INPUT_INVALID)");
    return exitCodes.usage;
  }
  if (MaestroError.is(error)) {
    write(`Error: ${error.message}`);
    for (const advice of error.actions) sayLines(adviceLines(advice), "error");
    write(`(${error.code})`);
  } else {
    const message = error instanceof Error ? error.message : String(error);
    write(`Error: ${message}`);
    write("This is a bug in Maestro; --debug prints the stack.");
    write("(UNEXPECTED)");
  }
  if (debug && error instanceof Error) say(String(error.stack).split("\n").map(plain).join("\n"), "error");
  return MaestroError.is(error) ? error.exitCode : exitCodes.bug;
}
