import type { Command, Option } from "commander";

export const shells = ["bash", "zsh", "fish"] as const;

export type Value =
  | { readonly kind: "file" }
  /** `or`: subcommands that can stand in its place. */
  | { readonly kind: "session"; readonly or?: readonly string[] }
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "text" };

export interface KnownFlag {
  readonly flag: string;
  readonly description: string;
  /** Undefined for a switch. */
  readonly value: Value | undefined;
}

export interface KnownCommand {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly KnownFlag[];
  /** The first argument. */
  readonly argument: Value | undefined;
  /** A file can follow the first argument. */
  readonly takesFile: boolean;
}

export function knownCommands(program: Command): readonly KnownCommand[] {
  const commands = program.commands.map(describe);
  const names = commands.map(({ name }) => name);
  const help = { name: "help", description: "Print the help of a command", flags: [], takesFile: false };
  return [...commands, { ...help, argument: { kind: "words", words: names } }];
}

function describe(command: Command): KnownCommand {
  return {
    name: command.name(),
    description: command.description(),
    flags: command.options
      .filter(({ hidden }) => !hidden)
      .map((option) => ({
        flag: option.long ?? "",
        description: option.description,
        value: valueOf(option),
      })),
    argument: argumentOf(command),
    takesFile: command.registeredArguments.some((argument) => argument.name() === "file"),
  };
}

function valueOf({ flags, argChoices }: Option): Value | undefined {
  const [, placeholder] = /<(.+)>/.exec(flags) ?? [];
  if (placeholder === undefined) return undefined;
  if (argChoices !== undefined) return { kind: "words", words: argChoices };
  if (placeholder === "session") return { kind: "session" };
  return { kind: /^(?:file|folder|phase=path|phase=file)$/.test(placeholder) ? "file" : "text" };
}

function argumentOf({ registeredArguments: [first] }: Command): Value | undefined {
  if (first === undefined) return undefined;
  const { argChoices } = first;
  if (first.name() === "session")
    return { kind: "session", ...(argChoices !== undefined && { or: argChoices }) };
  if (first.name() === "folder") return { kind: "file" };
  return argChoices === undefined ? { kind: "text" } : { kind: "words", words: argChoices };
}
