import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { builtInTeam, loadTeam, TeamInvalid } from "../../../../src/index.ts";
import { integrationProblems } from "../../../../src/team/definition/integration.ts";
import type { PersonaDefinition, TeamDefinition } from "../../../../src/team/definition/team-definition.ts";

const root = join(import.meta.dirname, "../../../..");
const file = join(root, "teams/software-delivery.yaml");

let team: TeamDefinition;
beforeAll(async () => {
  team = (await builtInTeam("software-delivery")).definition;
});

describe("the built-in team", () => {
  test("has the documented phases, gates and personas", () => {
    expect(team.phases.map(({ name, gate }) => [name, gate])).toEqual(
      [
        ["requirements", 0.75],
        ["design", 0.8],
        ["implementation", 0.7],
        ["testing", 0.85],
        ["deployment", 0.9],
      ].map(([name, threshold]) => [name, { threshold, onFail: "review" }]),
    );
    expect(new Set(team.phases.flatMap(({ personas }) => personas.map(({ name }) => name)))).toEqual(
      new Set([
        "requirement_analyst",
        "solution_architect",
        "backend_developer",
        "frontend_developer",
        "ui_ux_designer",
        "database_specialist",
        "security_specialist",
        "test_engineer",
        "qa_engineer",
        "devops_engineer",
        "technical_writer",
      ]),
    );
    expect(team.planning).toBe("rules");
  });

  test("is a normal team file that can be copied, and is complete without planning", async () => {
    const { team: loaded } = await loadTeam(file);
    expect(loaded.definition).toEqual(team);
    expect(integrationProblems(team)).toEqual([]);
    const directory = mkdtempSync(join(tmpdir(), "maestro-copied-team-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const copy = join(directory, "mine.yaml");
    writeFileSync(copy, readFileSync(file, "utf8").replace("planning: rules", "planning: off"));
    const { planning: _, ...rest } = team;
    expect((await loadTeam(copy)).team.definition).toEqual(rest);
  });

  test("is the default team; another name gets a suggestion", async () => {
    expect((await builtInTeam()).name).toBe("software-delivery");
    const refusal = await builtInTeam("software-delivry").catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(TeamInvalid);
    expect((refusal as Error).message).toContain('Did you mean "software-delivery"?');
    for (const name of ["../package", "toString", ""])
      await expect(builtInTeam(name)).rejects.toThrow(TeamInvalid);
  });

  test("is part of the package, where the built code finds it", () => {
    const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { files: string[] };
    expect(files).toContain("teams");
  });

  test("gives each persona the place of its deliverables", () => {
    for (const { name, work, contract } of team.phases.flatMap(({ personas }) => personas)) {
      const instructions = work.kind === "model" ? work.instructions : "";
      expect(instructions.length).toBeLessThan(1_500);
      for (const path of contract.deliverables.flatMap(({ files }) => files))
        expect(`${name}: ${instructions}`).toContain(path.replace("**", ""));
    }
  });
});

describe("its checks", () => {
  const checkOf = (persona: string, check: string): readonly string[] => {
    const found = team.phases
      .flatMap(({ personas }): readonly PersonaDefinition[] => personas)
      .find(({ name }) => name === persona)
      ?.contract.checks.find(({ name }) => name === check);
    if (found === undefined) throw new Error(`${persona} has no check ${check}`);
    return found.run;
  };

  /** How the check ends on these files: with a clean environment, no network and no packages are needed. */
  function run(argv: readonly string[], files: Readonly<Record<string, string>>) {
    const directory = mkdtempSync(join(tmpdir(), "maestro-team-check-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(join(directory, dirname(path)), { recursive: true });
      writeFileSync(join(directory, path), content);
    }
    expect(argv[0]).toBe("node");
    const { status, stderr, stdout } = spawnSync(process.execPath, argv.slice(1), {
      cwd: directory,
      encoding: "utf8",
      env: {},
    });
    return { passed: status === 0, said: `${stdout}${stderr}` };
  }

  test("need nothing but Node", () => {
    const programs = team.phases.flatMap(({ personas }) =>
      personas.flatMap(({ contract }) => contract.checks.map(({ run: argv }) => argv[0])),
    );
    expect(new Set(programs)).toEqual(new Set(["node"]));
    expect(execFileSync(process.execPath, ["--version"], { encoding: "utf8" })).toMatch(/^v/);
  });

  test.each([
    ["# Parking\n\nFind a place.", true],
    ["Some words first.\n\n# Parking\n", true],
    ["", false],
    ["Parking", false],
    ["#Parking", false],
    ["## Parking", false],
    ["# \n", false],
  ])("a title: %j -> %s", (text, passes) => {
    const { passed, said } = run(checkOf("requirement_analyst", "has-title"), {
      "docs/requirements.md": text,
    });
    expect({ passed, saysWhy: said.includes("docs/requirements.md has no title") }).toEqual({
      passed: passes,
      saysWhy: !passes,
    });
  });

  test.each(["# Parking", "# Parking\n\nTODO\n", "# Parking\n\n## Goal\n"])(
    "a title with nothing below it: %j",
    (text) => {
      const { passed, said } = run(checkOf("requirement_analyst", "has-title"), {
        "docs/requirements.md": text,
      });
      expect(passed).toBe(false);
      expect(said).toContain("docs/requirements.md has nothing below its title");
    },
  );

  test("the title of a missing file", () => {
    expect(run(checkOf("requirement_analyst", "has-title"), {}).passed).toBe(false);
  });

  test.each([
    ["# A\n\nR1: It counts.", true],
    ["# A\n\nR10 and AR1", false],
  ])("numbers: %j -> %s", (text, passes) => {
    const argv = checkOf("requirement_analyst", "requirements-are-numbered");
    expect(run(argv, { "docs/requirements.md": text }).passed).toBe(passes);
  });

  test.each<[what: string, files: Record<string, string>, passes: boolean]>([
    ["no JavaScript at all", { "src/main.py": "print(1" }, true],
    ["no folder", {}, false],
    ["an empty file", { "src/a.mjs": "\n" }, false],
    ["a remark and no code", { "src/a.mjs": "// TODO\n" }, false],
    ["a module", { "src/a/b.mjs": "import fs from 'node:fs';\nexport const a = await fs;\n" }, true],
    [
      "a module that does not say so",
      { "src/b.js": "import fs from 'node:fs';\nexport const a = fs;\n" },
      true,
    ],
    ["an old module", { "src/c.cjs": "const a = require('a'); module.exports = a;\n" }, true],
    ["settings with remarks", { "src/tsconfig.json": "{ /* remark */ }", "src/a.mjs": "let a;\n" }, true],
    [
      "a package of others",
      { "src/node_modules/x/index.js": "not javascript", "src/a.mjs": "let a;\n" },
      true,
    ],
    ["a missing bracket", { "src/d.js": "function f( {\n" }, false],
    ["a missing bracket, deep down", { "src/a/b/c/d.mjs": "export const a = [;\n" }, false],
    ["one of many", { "src/a.js": "let a;\n", "src/b.js": "let b = ;\n" }, false],
    ["JSON that is none", { "src/data.json": "{ a: 1 }" }, false],
  ])("code that parses: %s -> %s", (_, files, passes) => {
    const { passed, said } = run(checkOf("backend_developer", "code-parses"), files);
    expect({ passed, saysWhere: said.includes("src/") }).toEqual({ passed: passes, saysWhere: !passes });
  });

  test.each<[what: string, files: Record<string, string>, passes: boolean, says: RegExp]>([
    ["no JavaScript", { "test/test_a.py": "assert False" }, true, /There is no JavaScript to test/],
    ["none of it", { "src/a.mjs": "let a;\n" }, false, /There is JavaScript and no test of it/],
    [
      "one that passes",
      { "test/a.test.mjs": "import t from 'node:test';\nt('a', () => {});\n" },
      true,
      /pass 1/,
    ],
    [
      "one that fails",
      { "test/a/b.test.mjs": "import t from 'node:test';\nt('a', () => { throw new Error('no'); });\n" },
      false,
      /fail 1/,
    ],
  ])("tests that pass: %s -> %s", (_, files, passes, says) => {
    const { passed, said } = run(checkOf("test_engineer", "javascript-tests-pass"), files);
    expect(passed).toBe(passes);
    expect(said).toMatch(says);
  });
});
