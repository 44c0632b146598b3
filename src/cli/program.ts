import { Command } from "commander";
import { packageVersion } from "../package-files.ts";
import { shells } from "./completion/known-command.ts";
import { defineOn } from "./define/command.ts";
import { defineDeciding, offering } from "./define/deciding.ts";
import { defineDriving } from "./define/driving.ts";
import { helpThatFits } from "./define/help.ts";
import { defineKeeping } from "./define/keeping.ts";
import { defineReading } from "./define/reading.ts";
import { howStarted, typedName } from "./how-started.ts";
import type { GlobalOptions } from "./open.ts";

/**
 * Every command with its options and an offline example. Command code is loaded on demand. Collects the names of
 * commands that print nothing until they are done.
 */
export function buildProgram(spinning: Set<string> = new Set()): Command {
  const program = new Command(typedName())
    .description(
      "Runs teams of AI personas. Work that is recorded is not lost, and a resume neither repeats it nor pays for it again.",
    )
    .version(packageVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "Print the help of a command")
    .exitOverride()
    .configureHelp(helpThatFits)
    .showSuggestionAfterError()
    .showHelpAfterError(`See: ${howStarted()} --help`)
    .addHelpText("after", `\nStart here, offline and without a key:\n  $ ${howStarted()} demo`);
  const define = defineOn(program, spinning);
  defineDriving(define);
  defineReading(define);
  defineDeciding(define);
  defineKeeping(define);
  define({
    signature: "completion",
    description: "Print the completion script for bash, zsh or fish",
    example: 'eval "$(maestro completion bash)"',
  })
    .addArgument(offering("<shell>", shells))
    .action(async (shell: string, options: GlobalOptions) =>
      (await import("./completion/completion.ts")).completion(shell, program, options),
    );
  return program;
}
