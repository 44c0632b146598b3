import type { Command } from "commander";
import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { GlobalOptions } from "../open.ts";
import { print, printJson } from "../output.ts";
import { bash } from "./bash.ts";
import { fish } from "./fish.ts";
import { type KnownCommand, knownCommands } from "./known-command.ts";
import { zsh } from "./zsh.ts";

const writers: Readonly<Record<string, (commands: readonly KnownCommand[]) => string>> = { bash, zsh, fish };

/** What a shell reads to complete commands, flags, their values and the names of sessions. */
export function completion(shell: string, program: Command, { json }: GlobalOptions): void {
  const write = Object.hasOwn(writers, shell) ? writers[shell] : undefined;
  if (write === undefined) {
    const known = Object.keys(writers);
    throw new InputInvalid(`There is no completion for "${shell}".${didYouMean(shell, known)}`, {
      advice: `One of: ${known.join(", ")}.`,
    });
  }
  const script = write(knownCommands(program));
  if (json) printJson({ shell, script });
  else print(script);
}
