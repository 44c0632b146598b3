import type { Command } from "commander";
import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { print } from "../output.ts";

interface Known {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly {
    readonly flag: string;
    readonly description: string;
    readonly takesFile: boolean;
  }[];
}

const writers: Readonly<Record<string, (commands: readonly Known[]) => string>> = { bash, zsh, fish };

export function completion(shell: string, program: Command): void {
  const write = Object.hasOwn(writers, shell) ? writers[shell] : undefined;
  if (write === undefined)
    throw new InputInvalid(
      `There is no completion for "${shell}".${didYouMean(shell, Object.keys(writers))}`,
      {
        advice: `One of: ${Object.keys(writers).join(", ")}.`,
      },
    );
  print(write(program.commands.map(describe)));
}

function describe(command: Command): Known {
  return {
    name: command.name(),
    description: command.description(),
    flags: command.options.map(({ long, description, flags }) => ({
      flag: long ?? "",
      description,
      takesFile: /<(?:file|folder|phase=path|phase=file)>/.test(flags),
    })),
  };
}

const shells = "bash zsh fish";

function bash(commands: readonly Known[]): string {
  const cases = commands.map(
    ({ name, flags }) => `    ${name}) flags="${flags.map(({ flag }) => flag).join(" ")} --help" ;;`,
  );
  const files = [...new Set(commands.flatMap(({ flags }) => flags.filter(({ takesFile }) => takesFile)))];
  const fileFlags = [...new Set(files.map(({ flag }) => flag))].join("|");
  return `_maestro() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" flags=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")} --help --version" -- "$word"))
    return
  fi
  case "$before" in
    ${fileFlags}) COMPREPLY=($(compgen -f -- "$word")); return ;;
    completion) COMPREPLY=($(compgen -W "${shells}" -- "$word")); return ;;
  esac
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$flags" -- "$word"))
}
complete -o default -F _maestro maestro`;
}

function zsh(commands: readonly Known[]): string {
  const quoted = (text: string): string => text.replaceAll(/['[\]:`$\\]/g, "");
  const cases = commands.map(({ name, flags }) => {
    const specs = flags.map(
      ({ flag, description, takesFile }) =>
        `'${flag}[${quoted(description)}]${takesFile ? ":file:_files" : ""}'`,
    );
    return `    ${name}) _arguments ${specs.join(" ")} '*:argument:_files' ;;`;
  });
  return `#compdef maestro
_maestro() {
  if (( CURRENT == 2 )); then
    local -a commands
    commands=(
${commands.map(({ name, description }) => `      '${name}:${quoted(description)}'`).join("\n")}
    )
    _describe command commands
    return
  fi
  case "$words[2]" in
    completion) _values shell ${shells} ;;
${cases.filter((line) => !line.startsWith("    completion)")).join("\n")}
  esac
}
compdef _maestro maestro`;
}

function fish(commands: readonly Known[]): string {
  const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
  const lines = commands.flatMap(({ name, description, flags }) => [
    `complete -c maestro -n __fish_use_subcommand -f -a ${name} -d ${quoted(description)}`,
    ...flags.map(
      ({ flag, description: what, takesFile }) =>
        `complete -c maestro -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)} -d ${quoted(what)}${takesFile ? " -r -F" : ""}`,
    ),
  ]);
  return [...lines, `complete -c maestro -n '__fish_seen_subcommand_from completion' -f -a '${shells}'`].join(
    "\n",
  );
}
