import { type Command, CommanderError } from "commander";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid, MaestroError } from "../domain/errors.ts";
import { exitCodes } from "./exit-code.ts";
import { pasteable, say, sayWrapped } from "./output.ts";
import { buildProgram } from "./program.ts";
import { askForPatience, endPatience } from "./terminal/patience.ts";
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
    const program = buildProgram();
    refuseUnknownHelp(program, argv);
    const [command = ""] = argv;
    if (mayTakeTime.has(command)) askForPatience(command);
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    process.exitCode = explain(error, argv.includes("--debug"));
  } finally {
    endPatience();
  }
}

/** Those that say nothing before they are done; the others show what they do, or ask. */
const mayTakeTime = new Set([
  "approve",
  "breakers",
  "budget",
  "cancel",
  "checkpoints",
  "doctor",
  "pause",
  "prune",
  "reject",
  "sessions",
  "show",
  "tickets",
  "usage",
]);

/** Commander would answer with the help of everything. */
function refuseUnknownHelp(program: Command, [command, about]: readonly string[]): void {
  if (command !== "help" || about === undefined || about.startsWith("-")) return;
  const known = program.commands.map((each) => each.name());
  if (known.includes(about) || about === "help") return;
  throw new InputInvalid(`There is no command "${about}".${didYouMean(about, known)}`, {
    advice: "List them with: maestro --help",
  });
}

/** One sentence what happened, one what to do, the code; the stack only for who asks. */
function explain(error: unknown, debug: boolean): number {
  const write = (text: string): void => sayWrapped(text.split("\n").map(plain).join("\n"));
  if (error instanceof CommanderError) {
    // Commander has printed its own message already; asking for help is no error.
    if (error.exitCode === 0) return exitCodes.done;
    if (error.code === "commander.help") return exitCodes.usage;
    write("(INPUT_INVALID)");
    return exitCodes.usage;
  }
  if (MaestroError.is(error)) {
    write(pasteable(`Error: ${error.message}`));
    if (error.advice !== undefined) write(pasteable(error.advice));
    write(`(${error.code})`);
  } else {
    const message = error instanceof Error ? error.message : String(error);
    write(`Error: ${message}`);
    write("This is a bug in Maestro; --debug shows where.");
    write("(UNEXPECTED)");
  }
  if (debug && error instanceof Error) say(String(error.stack).split("\n").map(plain).join("\n"));
  return MaestroError.is(error) ? error.exitCode : exitCodes.bug;
}
