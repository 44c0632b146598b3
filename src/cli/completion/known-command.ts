import type { Command } from "commander";
import { sessionStatuses } from "../../domain/journal.ts";

export type Value =
  | { readonly kind: "file" }
  /** Or one of the words that may stand in its place. */
  | { readonly kind: "session"; readonly or?: readonly string[] }
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "text" };

export interface KnownFlag {
  readonly flag: string;
  readonly description: string;
  /** What comes after it; undefined for a switch. */
  readonly value: Value | undefined;
}

/** A command as a shell has to know it. */
export interface KnownCommand {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly KnownFlag[];
  /** What its first argument may be. */
  readonly argument: Value | undefined;
  /** Whether a file may come after it. */
  readonly takesFile: boolean;
}

const words: Readonly<Record<string, readonly string[]>> = {
  "--by": ["persona", "phase", "model", "session", "day"],
  "--status": sessionStatuses,
};

export function knownCommands(program: Command): readonly KnownCommand[] {
  const commands = program.commands.map(describe);
  const names = commands.map(({ name }) => name);
  const help = { name: "help", description: "help for a command", flags: [], takesFile: false };
  return [...commands, { ...help, argument: { kind: "words", words: names } }];
}

function describe(command: Command): KnownCommand {
  return {
    name: command.name(),
    description: command.description(),
    flags: command.options
      .filter(({ hidden }) => !hidden)
      .map(({ long, description, flags }) => ({
        flag: long ?? "",
        description,
        value: valueOf(long ?? "", /<(.+)>/.exec(flags)?.[1]),
      })),
    argument: argumentOf(command),
    takesFile: command.registeredArguments.some((argument) => argument.name() === "file"),
  };
}

function valueOf(flag: string, placeholder: string | undefined): Value | undefined {
  if (placeholder === undefined) return undefined;
  const choices = words[flag];
  if (choices !== undefined) return { kind: "words", words: choices };
  if (placeholder === "session") return { kind: "session" };
  return { kind: /^(?:file|folder|phase=path|phase=file)$/.test(placeholder) ? "file" : "text" };
}

function argumentOf(command: Command): Value | undefined {
  const [first] = command.registeredArguments;
  if (command.name() === "completion") return { kind: "words", words: ["bash", "zsh", "fish"] };
  if (command.name() === "breakers") return { kind: "words", words: ["reset"] };
  if (command.name() === "checkpoints") return { kind: "session", or: ["verify", "export", "import"] };
  if (first?.name() === "session") return { kind: "session" };
  return first === undefined ? undefined : { kind: "text" };
}
