// Writes docs/cli.md from the commands themselves; with --check, only says whether it is up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildProgram } from "../src/cli/program.ts";

const file = join(dirname(fileURLToPath(import.meta.url)), "../docs/cli.md");

/** Help is as wide as the terminal; a document is not. */
function describe(command) {
  const help = command.createHelp();
  const usage = help.commandUsage(command);
  const options = help
    .visibleOptions(command)
    .filter((option) => !common.has(option.long))
    .map((option) => `| \`${option.flags.replaceAll("|", "\\|")}\` | ${help.optionDescription(option)} |`);
  const table = options.length === 0 ? [] : ["", "| option | what it does |", "|---|---|", ...options];
  const example = exampleOf(command);
  return [
    `## ${command.name()}`,
    "",
    sentence(command.description()),
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

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

function exampleOf(command) {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  const [, lines] = /Example:\n((?: *\$ .*(?:\n|$))+)/.exec(text);
  return lines.trim().replaceAll(/^ *\$ /gm, "");
}

const program = buildProgram();
const text = [
  "<!-- Made by scripts/cli-docs.mjs from the commands; change them, not this file. -->",
  "",
  "# Command line",
  "",
  program.description(),
  "",
  "Sessions are named by their id, the beginning of it (four characters or more, if no other begins so), or their key.",
  "",
  "Every example works offline. They make a story: the one of `init` writes the team `hello.yaml`, the one of `run` makes the session `hello`, and the others look at it or go on with it; `maestro demo` stands alone.",
  "",
  "Every command has:",
  "",
  "| option | what it does |",
  "|---|---|",
  "| `--state-dir <folder>` | where sessions live; default `/var/maestro/state`, or the user's own if that cannot be written |",
  "| `--json` | one JSON document on standard output; `run`, `resume` and `watch` print one event a line, the last one the result |",
  "| `--debug` | show the stack of an error |",
  "| `--help` | how to use it |",
  "",
  "Results go to standard output, everything else to standard error. `NO_COLOR` turns colors off; without a terminal there are plain lines.",
  "",
  "| exit code | meaning |",
  "|---|---|",
  "| 0 | what was asked is done |",
  "| 1 | a bug in Maestro |",
  "| 2 | wrong usage, team or configuration |",
  "| 3 | failed |",
  "| 4 | parked: a review, help or a budget wait for a person; a breaker is taken up again by itself |",
  "| 5 | damaged state |",
  "| 130 | interrupted; the resume command is printed |",
  "",
  ...program.commands.flatMap(describe),
].join("\n");

if (process.argv.includes("--check")) {
  const found = readFileSync(file, "utf8");
  if (found !== text) {
    process.stderr.write("docs/cli.md is not up to date: node scripts/cli-docs.mjs\n");
    process.exitCode = 1;
  }
} else writeFileSync(file, text);
