import { describe, expect, test } from "vitest";
import { buildProgram } from "../../src/cli/program.ts";
import { simulatedName } from "../../src/domain/simulated.ts";
import { knownProviders } from "../../src/personas/model/provider-table.ts";
import { namedTools, toolNames } from "../../src/personas/tools/tool-table.ts";
import { readSources, withoutComments } from "./source-files.ts";

const code = new Map([...readSources()].map(([file, text]) => [file, withoutComments(text)]));
const page = new Map([...readSources("dashboard/src")].map(([file, text]) => [file, withoutComments(text)]));

/** Files in which one of the names stands as a whole string, or as the provider of a model. */
function filesWith(names: readonly string[]): readonly string[] {
  const strings = new RegExp(`["'\`](?:${names.map(escaped).join("|")})(?:["'\`]|/[\\w.-]+["'\`])`);
  return [...code].filter(([, text]) => strings.test(text)).map(([file]) => file);
}

const escaped = (name: string): string => name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

describe("each name stands in one file, and the others derive from it", () => {
  test("a provider is named only in the table of providers", () => {
    expect(filesWith(knownProviders)).toEqual(["src/personas/model/provider-table.ts"]);
  });

  test("the simulated model is named only by its constant", () => {
    const allowed = new Set([
      // A member of a session's view that has the same name.
      "src/journal/explain-stop.ts",
      // The filler for a wildcard, and a label beside an amount: neither names the model.
      "src/personas/model/simulated/default-turns.ts",
      "src/cli/terminal/format.ts",
    ]);
    expect(filesWith([simulatedName]).filter((file) => !allowed.has(file))).toEqual([
      "src/domain/simulated.ts",
    ]);
  });

  test("a tool is named only in the table of tools", () => {
    const { submit, ...others } = namedTools;
    const names = toolNames.filter((name) => name !== submit);
    expect(names).toEqual(expect.arrayContaining(Object.values(others)));
    expect(filesWith(toolNames)).toEqual(["src/personas/tools/tool-table.ts"]);
    const mentioned = [...code, ...page].filter(([, text]) => names.some((name) => text.includes(name)));
    expect(mentioned.map(([file]) => file)).toEqual(["src/personas/tools/tool-table.ts"]);
  });
});

describe("a command is data, and never a part of a sentence", () => {
  const commands = buildProgram().commands.map((command) => command.name());
  // A command in backticks is a mention, not for pasting; completion scripts and examples are commands themselves.
  const typed = new RegExp(`(?<!\`)\\bmaestro (?:${commands.join("|")})\\b`);
  const examples = /^src\/cli\/(?:define\/|completion\/|program\.ts$)/;
  const allowed = new Set([
    // A comment in the team file that init writes.
    "src/cli/commands/init.ts",
    // Descriptions of settings, for people who know the command.
    "src/config/server-settings.ts",
    "src/config/settings.ts",
    // A page for a browser that is not signed in: it cannot learn where the state is.
    "src/server/access/outside-page.ts",
  ]);

  test("no text of the source contains a command of Maestro", () => {
    const found = [...code].filter(
      ([file, text]) => typed.test(text) && !examples.test(file) && !allowed.has(file),
    );
    expect(found.map(([file]) => file)).toEqual([]);
  });
});
