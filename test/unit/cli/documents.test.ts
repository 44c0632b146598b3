import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildProgram } from "../../../src/cli/program.ts";

const root = join(import.meta.dirname, "../../..");

test.each([
  ["docs/cli.md, docs/team-file.md and team.schema.json are what npm run docs writes", "scripts/docs.mjs"],
  ["the demo's script is made from the demo's project", "scripts/demo-script.mjs"],
])("%s", (_, script) => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, script), "--check"], {
    encoding: "utf8",
  });
  expect({ status, stderr: stderr.replace(/^.*Warning.*$/gm, "").trim() }).toEqual({ status: 0, stderr: "" });
});

test.each(buildProgram().commands.map((command) => [command.name(), command] as const))(
  "%s has a description, the common flags and one example",
  (_name, command) => {
    let help = "";
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    expect(command.description()).not.toBe("");
    expect(help.match(/\nExample:\n {2}\$ /g)).toHaveLength(1);
    expect(help).toMatch(new RegExp(`\\n {2}\\$ .*maestro ${command.name()}\\b`));
    const flags = ["--state-dir", "--json", "--debug"];
    for (const flag of flags) expect(help).toContain(flag);
  },
);

test.each([80, 40])("on %d columns no help breaks within a word", (columns) => {
  const program = buildProgram();
  for (const command of [program, ...program.commands]) {
    let help = "";
    command
      .configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => columns })
      .outputHelp();
    const tooLong = help.split("\n").filter((line) => line.length > columns && /\S\s+\S/.test(line));
    // Commands to paste stay on one line, and a flag stays with its value.
    expect(tooLong.filter((line) => !/^ {2}(?:\$|-)|^ {2}The examples?/.test(line))).toEqual([]);
  }
});
