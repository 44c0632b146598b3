import type { KnownCommand, KnownFlag, Value } from "./known-command.ts";

export function zsh(commands: readonly KnownCommand[]): string {
  return `#compdef maestro
_maestro_sessions() {
  local -a names where expl
  local at=\${words[(I)--state-dir]}
  (( at )) && where=(--state-dir "\${(Q)words[at + 1]}")
  names=("$@" \${(f)"$(maestro sessions --names $where 2>/dev/null)"})
  _wanted sessions expl session compadd -a names
}
_maestro() {
  if (( CURRENT == 2 )); then
    local -a commands
    commands=(
${commands.map(({ name, description }) => `      '${name}:${quoted(description)}'`).join("\n")}
    )
    _describe command commands
    return
  fi
  local command="$words[2]"
  # _arguments takes the first word for the command.
  shift words
  (( CURRENT-- ))
  case "$command" in
${commands.map(commandCase).join("\n")}
  esac
}
# In a file of fpath this is the first call itself.
if [[ "$funcstack[1]" == _maestro ]]; then _maestro "$@"; else compdef _maestro maestro; fi`;
}

function commandCase({ name, flags, argument, takesFile }: KnownCommand): string {
  const specs = [...flags.map(flagSpec), "'--help[print help]'"];
  const first =
    argument === undefined ? [] : [`'1:${name === "help" ? "command" : "argument"}:${action(argument)}'`];
  return `    ${name}) _arguments ${[...specs, ...first, ...(takesFile ? ["'*:session or file:{ _maestro_sessions; _files }'"] : [])].join(" ")} ;;`;
}

function flagSpec({ flag, description, value }: KnownFlag): string {
  const after = value === undefined ? "" : `:value:${action(value)}`;
  return `'${flag}[${quoted(description)}]${after}'`;
}

function action(value: Value): string {
  switch (value.kind) {
    case "file":
      return "_files";
    case "session":
      // The leading space stops zsh from adding compadd options to the arguments.
      return [" _maestro_sessions", ...(value.or ?? [])].join(" ");
    case "words":
      return `(${value.words.join(" ")})`;
    case "text":
      return " ";
  }
}

const quoted = (text: string): string => text.replaceAll(/['[\]:`$\\]/g, "");
