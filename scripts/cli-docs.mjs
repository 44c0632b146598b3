// docs/cli.md, made from the commands.
import { buildProgram } from "../src/cli/program.ts";

function describe(command) {
  const help = command.createHelp();
  const usage = help.commandUsage(command);
  const options = help
    .visibleOptions(command)
    .filter((option) => !common.has(option.long))
    .map((option) => `| \`${option.flags.replaceAll("|", "\\|")}\` | ${help.optionDescription(option)} |`);
  const table = options.length === 0 ? [] : ["", "| option | description |", "|---|---|", ...options];
  const example = exampleOf(command);
  return [
    `## ${command.name()}`,
    "",
    `${command.description()}.`,
    "",
    "```sh",
    usage,
    "```",
    ...table,
    "",
    "Example:",
    "",
    "```sh",
    example,
    "```",
    "",
  ];
}

const common = new Set(["--state-dir", "--json", "--debug", "--help"]);

function exampleOf(command) {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  const [, lines] = /Example:\n((?: *\$ .*(?:\n|$))+)/.exec(text);
  return lines.trim().replaceAll(/^ *\$ /gm, "");
}

export function cliPage() {
  const program = buildProgram();
  return [
    "<!-- Made by scripts/cli-docs.mjs from the commands; change them, then npm run docs. -->",
    "",
    "# Command line",
    "",
    program.description(),
    "",
    "A session is named by its id, an unambiguous prefix of the id (at least four characters), or its key.",
    "",
    "Every example works offline. The examples build on each other: `init` writes the team `hello.yaml`, `run` creates the session `hello`, and the others use it. `maestro demo` needs none of them.",
    "",
    "Every command accepts:",
    "",
    "| option | description |",
    "|---|---|",
    "| `--state-dir <folder>` | state directory; default `/var/maestro/state`, or a directory in your home if that cannot be written |",
    "| `--json` | print one JSON document to standard output; `run`, `resume` and `watch` print one event a line, and the result last |",
    "| `--debug` | print the stack of an error |",
    "| `--help` | print the help of the command |",
    "",
    "Results go to standard output, everything else to standard error. `NO_COLOR` turns colors off; without a terminal, progress is printed as plain lines.",
    "",
    "| exit code | meaning |",
    "|---|---|",
    "| 0 | done |",
    "| 1 | a bug in Maestro |",
    "| 2 | wrong usage, team or configuration |",
    "| 3 | failed |",
    "| 4 | parked for a person (review, help, budget, setup, unknown effect), or for a circuit breaker, which needs no person |",
    "| 5 | damaged state, or a state directory that was removed or replaced under the command |",
    "| 130 | interrupted; the resume command is printed |",
    "",
    ...program.commands.flatMap(describe),
  ].join("\n");
}
