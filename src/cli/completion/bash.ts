import type { KnownCommand, Value } from "./known-command.ts";

export function bash(commands: readonly KnownCommand[]): string {
  const names = [...commands.map(({ name }) => name), "--help", "--version"];
  return `_maestro_words() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$1" -- "$2"))
}
_maestro_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}
_maestro_sessions() {
  local index where=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    [ "\${COMP_WORDS[index]}" = --state-dir ] && where=(--state-dir "\${COMP_WORDS[index + 1]}")
  done
  [ $# -gt 0 ] && printf '%s\\n' "$@"
  maestro sessions --names "\${where[@]}" 2>/dev/null
}
_maestro() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    _maestro_words ${list(names)} "$word"
    return
  fi
  case "\${COMP_WORDS[1]} $before" in
${commands.flatMap(valueCases).join("\n")}
  esac
  case "\${COMP_WORDS[1]}" in
${commands.map(flagCase).join("\n")}
  esac
}
complete -F _maestro maestro`;
}

function valueCases({ name, flags }: KnownCommand): readonly string[] {
  return flags.flatMap(({ flag, value }) =>
    value === undefined ? [] : [`    "${name} ${flag}") ${complete(value)}; return ;;`],
  );
}

function flagCase({ name, flags, argument, takesFile }: KnownCommand): string {
  const offered = list([...flags.map(({ flag }) => flag), "--help"]);
  if (argument === undefined || argument.kind === "text")
    return `    ${name}) _maestro_words ${offered} "$word" ;;`;
  const others = takesFile ? `; [ \${#COMPREPLY[@]} -gt 0 ] || ${complete({ kind: "file" })}` : "";
  return `    ${name}) case "$word" in -*) _maestro_words ${offered} "$word" ;; *) ${complete(argument)}${others} ;; esac ;;`;
}

function complete(value: Value): string {
  switch (value.kind) {
    case "file":
      return '_maestro_files "$word"';
    case "session":
      return `_maestro_words "$(${["_maestro_sessions", ...(value.or ?? [])].join(" ")})" "$word"`;
    case "words":
      return `_maestro_words ${list(value.words)} "$word"`;
    case "text":
      return ":";
  }
}

function list(words: readonly string[]): string {
  return `$'${words.join("\\n")}'`;
}
