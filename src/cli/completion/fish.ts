import type { KnownCommand, Value } from "./known-command.ts";

export function fish(commands: readonly KnownCommand[]): string {
  const lines = commands.flatMap(({ name, description, flags, argument, takesFile }) => {
    const of = `complete -c maestro -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c maestro -n __fish_use_subcommand -f -a ${name} -d ${quoted(description)}`,
      ...flags.map(
        ({ flag, description: what, value }) =>
          `${of} -l ${flag.slice(2)} -d ${quoted(what)}${value === undefined ? "" : ` -r ${offer(value)}`}`,
      ),
      ...(argument === undefined || argument.kind === "text" ? [] : [`${of} ${offer(argument)}`]),
      ...(takesFile ? [`${of} -F`] : []),
    ];
  });
  return [sessions, "complete -c maestro -f", ...lines].join("\n");
}

const sessions = `function __maestro_sessions
  set -l words (commandline -opc)
  set -l where
  if set -l at (contains -i -- --state-dir $words)
    set where --state-dir $words[(math $at + 1)]
  end
  maestro sessions --names $where 2>/dev/null
end`;

function offer(value: Value): string {
  switch (value.kind) {
    case "file":
      return "-F";
    case "session":
      return `-f -a ${quoted([...(value.or ?? []), "(__maestro_sessions)"].join(" "))}`;
    case "words":
      return `-f -a ${quoted(value.words.join(" "))}`;
    case "text":
      return "-f";
  }
}

const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
