import type { KnownCommand, Value } from "./known-command.ts";

export function fish(commands: readonly KnownCommand[]): string {
  const lines = commands.flatMap(({ name, description, flags, argument }) => {
    const of = `complete -c maestro -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c maestro -n __fish_use_subcommand -f -a ${name} -d ${quoted(description)}`,
      ...flags.map(
        ({ flag, description: what, value }) =>
          `${of} -l ${flag.slice(2)} -d ${quoted(what)}${value === undefined ? "" : ` -r ${offer(value)}`}`,
      ),
      ...(argument === undefined || argument.kind === "text" ? [] : [`${of} ${offer(argument)}`]),
    ];
  });
  return lines.join("\n");
}

function offer(value: Value): string {
  switch (value.kind) {
    case "file":
      return "-F";
    case "session":
      return "-f -a '(maestro sessions --names 2>/dev/null)'";
    case "words":
      return `-f -a ${quoted(value.words.join(" "))}`;
    case "text":
      return "-f";
  }
}

const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
