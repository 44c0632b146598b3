import { readFileSync } from "node:fs";
import { Command } from "commander";
import { packageFile } from "../package-files.ts";
import { defineOn } from "./define/command.ts";
import { defineDeciding } from "./define/deciding.ts";
import { defineDriving } from "./define/driving.ts";
import { helpThatFits } from "./define/help.ts";
import { defineKeeping } from "./define/keeping.ts";
import { defineLooking } from "./define/looking.ts";
import type { GlobalOptions } from "./open.ts";

/** Every command with its options and one example that works offline. What they do is loaded when they are called. */
export function buildProgram(): Command {
  const program = new Command("maestro")
    .description("Runs teams of AI personas and never loses, repeats or overpays for what is already done.")
    .version(version(), "-V, --version", "print the version")
    .exitOverride()
    .configureHelp(helpThatFits)
    .showSuggestionAfterError()
    .showHelpAfterError("See: maestro --help")
    .addHelpText("after", "\nBegin here, offline and without a key:\n  $ maestro demo");
  const define = defineOn(program);
  defineDriving(define);
  defineLooking(define);
  defineDeciding(define);
  defineKeeping(define);
  define({
    signature: "completion <shell>",
    description: "print what bash, zsh or fish need to complete commands, flags and sessions",
    example: 'eval "$(maestro completion bash)"',
  }).action(async (shell: string, options: GlobalOptions) =>
    (await import("./completion/completion.ts")).completion(shell, program, options),
  );
  return program;
}

function version(): string {
  const { version } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as {
    version: string;
  };
  return version;
}
