import type { Command } from "commander";
import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { GlobalOptions } from "../open.ts";
import { print, printJson } from "../output.ts";
import { bash } from "./bash.ts";
import { fish } from "./fish.ts";
import { type KnownCommand, knownCommands, shells } from "./known-command.ts";
import { zsh } from "./zsh.ts";

type Shell = (typeof shells)[number];
const writers: Readonly<Record<Shell, (commands: readonly KnownCommand[]) => string>> = { bash, zsh, fish };

/** No typos of those that are supported, however alike the names are. */
const otherShells = ["sh", "ash", "csh", "dash", "ksh", "mksh", "pwsh", "tcsh"];

const meant = (shell: string): string => (otherShells.includes(shell) ? "" : didYouMean(shell, shells));

export function completion(shell: string, program: Command, { json }: GlobalOptions): void {
  const known = shells.find((name) => name === shell);
  if (known === undefined)
    throw new InputInvalid(`There is no completion for "${shell}".${meant(shell)}`, {
      advice: `One of: ${shells.join(", ")}.`,
    });
  const script = writers[known](knownCommands(program));
  if (json) printJson({ shell, script });
  else print(script);
}
