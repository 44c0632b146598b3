import { describe, expect, test } from "vitest";
import { brokenRules } from "./import-rules.ts";
import { readSources } from "./source-files.ts";

test("imports point down only, providers and SQL stay in their folders, files stay small", () => {
  const sources = readSources();
  expect(sources.size).toBeGreaterThan(0);
  expect(brokenRules(sources)).toEqual([]);
});

describe("the checker of imports", () => {
  const store = ["src/store/store.ts", "export const store = 1;\n"] as const;
  const check = (files: Record<string, string>) => brokenRules(new Map([store, ...Object.entries(files)]));

  test("accepts imports that point down", () => {
    const team = 'import { store } from "../store/store.ts";\n// import "../cli/run.ts" is only a comment\n';
    expect(check({ "src/run/engine.ts": team })).toEqual([]);
  });

  test("reports an import that points up, with its line", () => {
    const upward = '\nimport {\n  store,\n} from "../store/store.ts";\n';
    const checked = check({ "src/domain/ids.ts": upward });
    expect(checked).toEqual([
      "src/domain/ids.ts:4 imports src/store/store.ts, which is not allowed: imports point down only, and store is not below domain.",
    ]);
  });

  test.each([
    ["a front door that reaches past api/", "src/cli/run.ts", 'import { store } from "../store/store.ts";'],
    ["a dynamic import", "src/server/app.ts", 'const x = await import("../store/store.ts");'],
    ["a type import", "src/cli/run.ts", 'type X = import("../store/store.ts").X;'],
    ["a re-export", "src/cli/run.ts", 'export * from "../store/store.ts";'],
    ["an import for its side effect", "src/cli/run.ts", 'import "../store/store.ts";'],
  ])("reports %s", (_title, file, text) => {
    expect(check({ [file]: text })).toEqual([
      `${file}:1 imports src/store/store.ts, which is not allowed: ${file.split("/")[1]} is a front door and may import only api, index.ts, config, package-files.ts, journal, domain.`,
    ]);
  });

  test("reports a front door that imports the other, except serve", () => {
    expect(check({ "src/cli/run.ts": "", "src/server/app.ts": 'import "../cli/run.ts";' })).toHaveLength(1);
    const server = { "src/server/serve.ts": "", "src/server/app.ts": "" };
    const serve = "src/cli/commands/serve.ts";
    expect(check({ ...server, [serve]: 'await import("../../server/serve.ts");' })).toEqual([]);
    expect(check({ ...server, [serve]: 'await import("../../server/app.ts");' })).toHaveLength(1);
    expect(check({ ...server, "src/cli/run.ts": 'import "../server/serve.ts";' })).toHaveLength(1);
  });

  test.each([
    ["src/domain/ids.ts", "node:fs", "domain and journal import no package but node:crypto"],
    ["src/store/store.ts", "node:sqlite", "only store/sqlite/ knows node:sqlite"],
    ["src/store/store.ts", "pg", "only store/postgres/ knows pg"],
    ["src/run/engine.ts", "ai", "only personas/ knows a provider"],
    ["src/run/engine.ts", "@ai-sdk/openai", "only personas/ knows a provider"],
    ["src/run/engine.ts", "./engin.ts", "there is no such file under src/"],
    ["src/run/engine.ts", "../store/store.js", "a relative import ends in .ts"],
    ["src/run/engine.ts", "../store/store", "a relative import ends in .ts"],
  ])("reports %s importing %s", (file, specifier, why) => {
    const checked = check({ [file]: `import "${specifier}";` });
    expect(checked).toHaveLength(1);
    expect(checked[0]).toContain(`${file}:1 imports `);
    expect(checked[0]).toContain(why);
  });

  test("accepts packages in the folders that may use them", () => {
    const checked = check({
      "src/domain/ids.ts": 'import "node:crypto";',
      "src/store/sqlite/database.ts": 'import "node:sqlite";',
      "src/personas/model/providers.ts": 'const ai = await import("ai");',
    });
    expect(checked).toEqual([]);
  });

  test.each([
    "INSERT INTO journal VALUES (?)",
    "INSERT OR IGNORE INTO journal VALUES (?)",
    "SELECT id,\n  key FROM sessions",
    "UPDATE sessions SET status = ?",
    "DELETE FROM sessions",
  ])("reports SQL outside store/: %s", (statement) => {
    const text = `\nconst statement = \`${statement}\`;`;
    expect(check({ "src/run/engine.ts": text })[0]).toContain("src/run/engine.ts:2 contains SQL");
    expect(check({ "src/store/sqlite/rows.ts": text })).toEqual([]);
  });

  test("reports a cycle between files of one folder", () => {
    const files = {
      "src/team/a.ts": 'import "./b.ts";',
      "src/team/b.ts": 'import "./c.ts";',
      "src/team/c.ts": 'import "./b.ts";',
    };
    expect(check(files)).toEqual([
      "src/team/b.ts imports src/team/c.ts imports src/team/b.ts: a cycle, in which no file can be understood alone.",
    ]);
  });

  test("reports a file that is too long, and an unknown folder", () => {
    expect(check({ "src/team/long.ts": "// line\n".repeat(400) })).toEqual([]);
    expect(check({ "src/team/long.ts": "// line\n".repeat(401) })).toHaveLength(1);
    expect(check({ "src/utils/misc.ts": "" })[0]).toContain("has no place in the order of layers");
  });
});
