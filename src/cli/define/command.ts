import type { Command } from "commander";
import { howStarted } from "../how-started.ts";
import { folded } from "../output.ts";
import { screenOf } from "../terminal/screen.ts";

/** The help of a command. Its code is loaded only when it is called. */
export interface Definition {
  readonly signature: string;
  readonly description: string;
  /** Runs offline, line by line. */
  readonly example: string | readonly string[];
  /** Prints nothing until it is done, so a spinner shows progress. */
  readonly spins?: true;
}

export type Define = (definition: Definition) => Command;

/** Adds the options that every command has. */
export function defineOn(program: Command, spinning: Set<string>): Define {
  return ({ signature, description, example, spins }) => {
    const command = program
      .command(signature)
      .description(description)
      .showHelpAfterError(`See: ${howStarted()} ${signature.split(" ")[0]} --help`)
      .option("--state-dir <folder>", "state directory (default: /var/maestro/state)")
      .option("--json", "print JSON to standard output")
      .option("--debug", "print the stack of an error")
      .addHelpText("after", () => exampleText([example].flat()));
    if (spins) spinning.add(command.name());
    return command;
  };
}

/** The examples build on each other, so each names the examples it needs. */
function exampleText(lines: readonly string[]): string {
  const text = lines.join("\n  $ ");
  const typed = text.replaceAll(/\bmaestro (?=[a-z])/g, `${howStarted()} `);
  const before = text.includes("hello.yaml")
    ? "The example of init writes hello.yaml."
    : /^maestro [a-z]+(?: [a-z]+)? hello\b/.test(text)
      ? "The examples of init and run create the session hello."
      : "";
  const { columns } = screenOf(process.stdout);
  return [`\nExample:\n  $ ${typed}`, ...folded(before === "" ? "" : `  ${before}`, columns)]
    .join("\n")
    .trimEnd();
}

/** For flags that can be repeated. */
export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

/** The flags of a command as a shell would pass them, from its parsed options. The names come from its definition. */
export function flagsOf(command: Command, options: object): readonly string[] {
  const values = new Map<string, string | boolean | readonly string[] | undefined>(Object.entries(options));
  return command.options.flatMap((option) => {
    const flag = option.long ?? "";
    const value = values.get(option.attributeName());
    if (value === undefined || value === false) return [];
    if (value === true) return [flag];
    return [value].flat().flatMap((each) => [flag, each]);
  });
}
