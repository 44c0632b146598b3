import type { Command } from "commander";

/** What a person needs to know of a command; what it does is loaded when it is called. */
export interface Definition {
  readonly signature: string;
  readonly description: string;
  /** Works offline. */
  readonly example: string;
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
      .addHelpText("after", `\nExample:\n  $ ${example}${madeBy(example)}`);
}

/** The examples make a story; who reads only one should know where it begins. */
function madeBy(example: string): string {
  if (example.includes("hello.yaml")) return "\n  The example of init writes hello.yaml.";
  if (/^maestro [a-z]+(?: [a-z]+)? hello\b/.test(example))
    return "\n  The session hello is made by the examples of init and run.";
  return "";
}

/** For flags that may be given more than once. */
export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
