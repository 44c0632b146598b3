import type { Command } from "commander";
import { folded } from "../output.ts";
import { screenOf } from "../terminal/screen.ts";

/** What a person needs to know of a command; what it does is loaded when it is called. */
export interface Definition {
  readonly signature: string;
  readonly description: string;
  /** Works offline, one line after the other. */
  readonly example: string | readonly string[];
}

export type Define = (definition: Definition) => Command;

/** Every command understands these. */
export function defineOn(program: Command): Define {
  return ({ signature, description, example }) =>
    program
      .command(signature)
      .description(description)
      .showHelpAfterError(`See: maestro ${signature.split(" ")[0]} --help`)
      .option("--state-dir <folder>", "where sessions live (default: /var/maestro/state)")
      .option("--json", "print JSON on standard output")
      .option("--debug", "show the stack of an error")
      .addHelpText("after", () => exampleText([example].flat()));
}

/** The examples make a story; who reads only one should know where it begins. */
function exampleText(lines: readonly string[]): string {
  const text = lines.join("\n  $ ");
  const before = text.includes("hello.yaml")
    ? "The example of init writes hello.yaml."
    : /^maestro [a-z]+(?: [a-z]+)? hello\b/.test(text)
      ? "The session hello is made by the examples of init and run."
      : "";
  const { columns } = screenOf(process.stdout);
  return [`\nExample:\n  $ ${text}`, ...folded(before === "" ? "" : `  ${before}`, columns)]
    .join("\n")
    .trimEnd();
}

/** For flags that may be given more than once. */
export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
