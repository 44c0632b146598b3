import { describe, expect, test } from "vitest";
import { brokenRules } from "./import-rules.ts";
import { readSources } from "./source-files.ts";

test("imports point down only, providers and SQL stay in their folders, files stay small", () => {
  const sources = readSources();
  expect(sources.size).toBeGreaterThan(0);
  expect(brokenRules(sources)).toEqual([]);
});

describe("the checker sees", () => {
  const store = ["src/state/store.ts", "export const store = 1;\n"] as const;
  const check = (files: Record<string, string>) => brokenRules(new Map([store, ...Object.entries(files)]));

  test("nothing wrong with imports that point down", () => {
    const team = 'import { store } from "../state/store.ts";\n// import "../cli/run.ts" is only a comment\n';
    expect(check({ "src/team/engine.ts": team })).toEqual([]);
  });

  test("an import that points up, with its line", () => {
    const upward = '\nimport {\n  store,\n} from "../state/store.ts";\n';
    const checked = check({ "src/domain/ids.ts": upward });
    expect(checked).toEqual([
      "src/domain/ids.ts:4 imports src/state/store.ts, which is not allowed: imports point down only, and state is not below domain.",
    ]);
  });

  test.each([
    [
      "a front door that reaches past maestro.ts",
      "src/cli/run.ts",
      'import { store } from "../state/store.ts";',
    ],
    ["a dynamic import", "src/server/app.ts", 'const x = await import("../state/store.ts");'],
    ["a type import", "src/cli/run.ts", 'type X = import("../state/store.ts").X;'],
    ["a re-export", "src/cli/run.ts", 'export * from "../state/store.ts";'],
    ["an import for its side effect", "src/cli/run.ts", 'import "../state/store.ts";'],
  ])("%s", (_title, file, text) => {
    expect(check({ [file]: text })).toEqual([
      `${file}:1 imports src/state/store.ts, which is not allowed: ${file.split("/")[1]} is a front door and may import only maestro.ts, look.ts, index.ts, config, package-files.ts, domain.`,
    ]);
  });

  test("one front door that imports the other", () => {
    expect(check({ "src/cli/run.ts": "", "src/server/app.ts": 'import "../cli/run.ts";' })).toHaveLength(1);
    const server = { "src/server/serve.ts": "", "src/server/app.ts": "" };
    const serve = "src/cli/commands/serve.ts";
    expect(check({ ...server, [serve]: 'await import("../../server/serve.ts");' })).toEqual([]);
    expect(check({ ...server, [serve]: 'await import("../../server/app.ts");' })).toHaveLength(1);
    expect(check({ ...server, "src/cli/run.ts": 'import "../server/serve.ts";' })).toHaveLength(1);
  });

  test.each([
    ["src/domain/ids.ts", "node:fs", "domain imports nothing but itself and node:crypto"],
    ["src/state/store.ts", "node:sqlite", "only state/sqlite/ knows node:sqlite"],
    ["src/team/engine.ts", "ai", "only models/ knows a provider"],
    ["src/team/engine.ts", "@ai-sdk/openai", "only models/ knows a provider"],
    ["src/team/engine.ts", "./engin.ts", "there is no such file under src/"],
    ["src/team/engine.ts", "../state/store.js", "a relative import ends in .ts"],
    ["src/team/engine.ts", "../state/store", "a relative import ends in .ts"],
  ])("%s importing %s", (file, specifier, why) => {
    const checked = check({ [file]: `import "${specifier}";` });
    expect(checked).toHaveLength(1);
    expect(checked[0]).toContain(`${file}:1 imports `);
    expect(checked[0]).toContain(why);
  });

  test("what is allowed of these", () => {
    const checked = check({
      "src/domain/ids.ts": 'import "node:crypto";',
      "src/state/sqlite/database.ts": 'import "node:sqlite";',
      "src/models/providers.ts": 'const ai = await import("ai");',
    });
    expect(checked).toEqual([]);
  });

  test.each([
    "INSERT INTO journal VALUES (?)",
    "INSERT OR IGNORE INTO journal VALUES (?)",
    "SELECT id,\n  key FROM sessions",
    "UPDATE sessions SET status = ?",
    "DELETE FROM sessions",
  ])("SQL outside state/: %s", (statement) => {
    const text = `\nconst statement = \`${statement}\`;`;
    expect(check({ "src/team/engine.ts": text })[0]).toContain("src/team/engine.ts:2 contains SQL");
    expect(check({ "src/state/sqlite/rows.ts": text })).toEqual([]);
  });

  test("a cycle between files of one folder", () => {
    const files = {
      "src/team/a.ts": 'import "./b.ts";',
      "src/team/b.ts": 'import "./c.ts";',
      "src/team/c.ts": 'import "./b.ts";',
    };
    expect(check(files)).toEqual([
      "src/team/b.ts imports src/team/c.ts imports src/team/b.ts: a cycle, in which no file can be understood alone.",
    ]);
  });

  test("a file that is too long, and a folder it does not know", () => {
    expect(check({ "src/team/long.ts": "// line\n".repeat(400) })).toEqual([]);
    expect(check({ "src/team/long.ts": "// line\n".repeat(401) })).toHaveLength(1);
    expect(check({ "src/utils/misc.ts": "" })[0]).toContain("has no place in the order of layers");
  });
});
