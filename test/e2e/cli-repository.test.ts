import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { json, maestro, type Place, place, read } from "./support/packed.ts";
import { demoRepositorySchema, initRepositorySchema, showSchema } from "./support/schemas.ts";

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=me", "-c", "user.email=me@localhost", ...args], {
    cwd: folder,
    encoding: "utf8",
  });

/** A repository with one test that passes and one that fails. */
function withRepository(name = "app"): { readonly at: Place; readonly repository: string } {
  const at = place();
  const repository = join(at.folder, name);
  mkdirSync(join(repository, "test"), { recursive: true });
  const files = {
    "package.json": JSON.stringify({ name: "app", type: "module", scripts: { test: "node --test" } }),
    "package-lock.json": JSON.stringify({
      name: "app",
      lockfileVersion: 3,
      packages: { "": { name: "app" } },
    }),
    "test/app.test.js":
      'import { test } from "node:test";\ntest("passes", () => {});\ntest("fails", () => { throw new Error("as before"); });\n',
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(repository, path), text);
  git(repository, "init", "--quiet", "--initial-branch=main");
  git(repository, "add", "--all");
  git(repository, "commit", "--quiet", "--message=start");
  return { at, repository };
}

test("init --repo writes a team with the repository's own setup and tests, and its first run delivers a branch", async () => {
  const { at, repository } = withRepository();
  const inside = { ...at, folder: repository };
  const made = initRepositorySchema.parse(await json(inside, "init", "--repo", "."));
  expect(made).toMatchObject({
    file: "team.yaml",
    name: "app",
    model: null,
    setups: [{ run: ["npm", "ci"], because: "package-lock.json" }],
    checks: [{ name: "test", run: ["npm", "test"] }],
  });
  expect(read(inside, "team.yaml")).toMatch(/^source: \{ git: "\." \}$/m);
  expect(read(inside, "team.yaml")).toMatch(/^ {4}tools: \["\*", run_command\]$/m);
  const run = ["run", "Say hello", "--team", "team.yaml", "--key", "first", "--model", "simulated"];
  const trusted = { ...inside, env: { ...inside.env, MAESTRO_TRUST: "1" } };
  expect(await maestro(trusted, ...run)).toMatchObject({ code: 0 });
  const view = showSchema.parse(await json(inside, "show", "first"));
  expect(view).toMatchObject({
    status: "completed",
    baseline: [{ check: "test", status: "failed", passed: 1, failed: 1 }],
    delivery: { branch: "maestro/first" },
  });
  expect(git(repository, "branch", "--list", "maestro/first").trim()).toBe("maestro/first");
});

test("init --repo from outside names the repository relative to the file", async () => {
  const { at } = withRepository("my app");
  await json(at, "init", "--repo", "my app", "--out", "teams.yaml", "--model", "simulated");
  expect(read(at, "teams.yaml")).toMatch(/^source: \{ git: "my app" \}$/m);
  expect(read(at, "teams.yaml")).toMatch(/^name: "my-app"$/m);
});

test.each([
  ["a folder that is no repository", ["--repo", "."], "is not a git repository"],
  ["a folder that does not exist", ["--repo", "missing"], "There is no folder"],
  ["phases of its own", ["--repo", "app", "--phases", "one"], "--phases cannot be combined with --repo"],
])("init --repo refuses %s and writes nothing", async (_, flags, why) => {
  const { at } = withRepository();
  const { code, stderr } = await maestro(at, "init", ...flags);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  expect(existsSync(join(at.folder, "team.yaml"))).toBe(false);
});

test("demo --repo: a failing test is fixed, the process is killed in the middle, and a branch has the change", async () => {
  const at = place();
  const out = join(at.folder, "demo");
  const demo = demoRepositorySchema.parse(await json(at, "demo", "--repo", "--out", out));
  expect(demo).toMatchObject({
    status: "completed",
    simulated: true,
    baseline: { passed: 3, failed: 1 },
    untouched: true,
    branch: `maestro/${demo.key}`,
  });
  expect(demo.commits).toHaveLength(2);
  // The kill may meet a call that is under way: it is made again.
  expect([6, 7]).toContain(demo.calls);
  expect(demo.notPaidTwice.calls).toBeGreaterThanOrEqual(2);
  const changed = git(demo.project, "diff", "--name-only", `main..${demo.branch}`).trim().split("\n");
  expect(changed).toEqual(["CHANGELOG.md", "src/calendar.mjs"]);
  git(demo.project, "checkout", "--quiet", demo.branch);
  const tests = execFileSync(process.execPath, ["--test", "--test-reporter=tap"], {
    cwd: demo.project,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
  });
  expect(tests).toContain("# pass 4");
});

test("demo --repo on a machine without git says what is missing", async () => {
  const at = place();
  const { code, stderr } = await maestro({ ...at, env: { ...at.env, PATH: at.folder } }, "demo", "--repo");
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("There is no git") });
});
