import { describe, expect, onTestFinished, test, vi } from "vitest";
import { progressLine } from "../../../src/cli/progress.ts";
import { defineTeam, type PersonaContext, persona, phase } from "../../../src/index.ts";
import type { CheckOptions } from "../../../src/team/definition/written.ts";
import { TeamPlace } from "../run/place.ts";
import { TestRepository } from "./test-repository.ts";

type Work = (ctx: PersonaContext) => Promise<void>;

const team = (checks: readonly CheckOptions[], work: Work = async () => undefined) =>
  defineTeam("fixers", {
    phases: [
      phase("fix", {
        personas: [
          persona("dev", {
            contract: { checks },
            mayChange: ["test/**"],
            maxAttempts: 1,
            run: async (ctx) => {
              await work(ctx);
              return { summary: "done" };
            },
          }),
        ],
      }),
    ],
  });

/** Two tests pass and one fails. */
function repository(): TestRepository {
  const made = new TestRepository().write("src/sum.mjs", "export const sum = (a, b) => a - b;\n").write(
    "test/sum.test.mjs",
    `import test from "node:test";
import assert from "node:assert/strict";
import { sum } from "../src/sum.mjs";
test("adds", () => assert.equal(sum(1, 2), 3));
test("subtracts nothing", () => assert.equal(sum(1, 0), 1));
test("is a function", () => assert.equal(typeof sum, "function"));
`,
  );
  made.commit();
  return made;
}

const nodeTest = (more: Partial<CheckOptions> = {}): CheckOptions => ({
  name: "test",
  run: ["node", "--test"],
  ...more,
});

const rewrites =
  (path: string, content: string): Work =>
  (ctx) =>
    ctx.workspace.write(path, content);

const progressOf = (place: TeamPlace) =>
  place.events.flatMap((event) => (event.kind === "baseline.measured" ? [progressLine(event)] : []));

const kindsOf = (place: TeamPlace) => place.events.map(({ kind }) => kind);

describe("with a repository", () => {
  test("checks run before the first attempt, and the session says what fails already", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { folder } = repository();
    const there = { name: "there", run: ["test", "-f", "src/sum.mjs"] };
    const work = team([nodeTest({ must: "no-worse" }), there]);
    const session = await maestro.start(work, { brief: "Look.", source: { git: folder } });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const { baseline, phases } = await maestro.show(session.id);
    expect(baseline).toMatchObject([
      { check: "test", status: "failed", passed: 2, failed: 1, skipped: 0 },
      { check: "there", status: "passed", passed: null, failed: null },
    ]);
    const output = await maestro.artifact(session.id, baseline[0]?.output ?? "");
    expect(output.toString()).toContain("✖ adds");
    expect(kindsOf(place).lastIndexOf("baseline.measured")).toBeLessThan(
      kindsOf(place).indexOf("phase.started"),
    );
    expect(progressOf(place)).toEqual(["check test: 1 of 3 fail before we began", undefined]);
    // Judged again after the work: no worse, with its tests and everything that it printed.
    const [judged] = phases[0]?.checks[0]?.results ?? [];
    expect(judged).toMatchObject({
      name: "test",
      status: "passed",
      must: "no-worse",
      tests: { passed: 2, failed: 1, skipped: 0 },
      message: "node ended with exit code 1: 1 of 3 tests fails, no worse than before the session began",
    });
    const kept = await maestro.artifact(session.id, judged?.output ?? "");
    expect(kept.toString()).toContain("✔ subtracts nothing");
  });

  test("a check of files that are yet to be delivered says that it has nothing to judge yet", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { folder } = repository();
    const contract = {
      deliverables: ["docs/notes.md"],
      checks: [{ name: "has-title", run: ["grep", "-q", "^# ", "docs/notes.md"] }],
    };
    const writer = persona("writer", {
      contract,
      run: async (ctx) => {
        await ctx.workspace.write("docs/notes.md", "# Notes\n");
        return { summary: "written" };
      },
    });
    const work = defineTeam("writers", { phases: [phase("write", { personas: [writer] })] });
    const session = await maestro.start(work, { brief: "Write.", source: { git: folder } });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const { baseline } = await maestro.show(session.id);
    expect(baseline).toMatchObject([
      { check: "has-title", status: "failed", text: "has nothing to judge yet" },
    ]);
    expect(progressOf(place)).toEqual([undefined]);
  });

  test("a test that passed before must not break, and is named to the next attempt", async () => {
    const place = new TeamPlace();
    const maestro = await place.open({ rounds: { max: 1 } });
    const { folder } = repository();
    const broken = rewrites("src/sum.mjs", "export const sum = (a, b) => a + b + 1;\n");
    const work = team([nodeTest({ must: "no-worse" })], broken);
    const session = await maestro.start(work, { brief: "Break.", source: { git: folder } });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "help" });
    const [attempt] = (await maestro.show(session.id)).phases[0]?.personas[0]?.attempts ?? [];
    expect(attempt?.failure?.message).toContain(
      "1 test that passed before the session began fails now: subtracts nothing",
    );
    expect(attempt?.checks).toMatchObject([{ name: "test", tests: { passed: 1, failed: 2, skipped: 0 } }]);
  });

  test("a test that is gone is missing, although the command ends with 0", async () => {
    const place = new TeamPlace();
    const maestro = await place.open({ rounds: { max: 1 } });
    const { folder } = repository();
    const removed = rewrites("test/sum.test.mjs", 'import test from "node:test";\ntest("fine", () => {});\n');
    const session = await maestro.start(team([nodeTest({ must: "no-worse" })], removed), {
      brief: "Remove.",
      source: { git: folder },
    });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "help" });
    const [attempt] = (await maestro.show(session.id)).phases[0]?.personas[0]?.attempts ?? [];
    expect(attempt?.failure?.message).toContain(
      "2 tests that passed before the session began are missing now: subtracts nothing, is a function",
    );
  });

  test("checks with the same command and variables run once, and a changed team runs only new ones", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { folder } = repository();
    const first = nodeTest({ must: "no-worse" });
    const twice = team([first, { ...first, name: "again", must: false }]);
    const options = { brief: "Look.", key: "k", source: { git: folder }, pauseAfter: ["fix" as const] };
    const session = await maestro.start(twice, options);
    expect(await session.result()).toMatchObject({ status: "parked", reason: "review" });
    expect(place.events.filter(({ kind }) => kind === "baseline.measured")).toMatchObject([
      { checks: ["test", "again"] },
    ]);
    expect((await maestro.show("k")).baseline.map(({ check }) => check)).toEqual(["test", "again"]);
    place.events.length = 0;
    const more = team([first, { name: "new", run: ["test", "-f", "src/sum.mjs"] }]);
    const resumed = await maestro.resume("k", { team: more, acceptChanges: true });
    await resumed.result();
    expect(place.events.filter(({ kind }) => kind === "baseline.measured")).toMatchObject([
      { checks: ["new"], status: "passed" },
    ]);
  });

  test("a fork has the baseline of its parent", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { folder } = repository();
    const work = team([nodeTest({ must: "no-worse" })]);
    const session = await maestro.start(work, { brief: "Look.", source: { git: folder } });
    await session.result();
    place.events.length = 0;
    const fork = await maestro.fork(session.id, { at: "fix", fresh: true });
    const forked = await maestro.executeBatch(fork.id);
    expect(forked).toMatchObject({ status: "completed" });
    expect(kindsOf(place)).not.toContain("baseline.measured");
    expect((await maestro.show(fork.id)).baseline).toMatchObject([{ check: "test", passed: 2, failed: 1 }]);
  });
});

describe("a check that cannot be started on the files as they were given", () => {
  test.each([
    [
      "a program that is not installed",
      ["no-such-program-here", "--run"],
      /no-such-program-here is not installed/,
    ],
    ["a script whose program is missing", ["sh", "-c", "no-such-tool"], /ended with exit code 127/],
    ["a file that may not be run", ["./src/sum.mjs"], /cannot be started/],
  ])("%s parks the session as set-up before a persona works", async (_, run, message) => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { folder } = repository();
    const work = team([{ name: "test", run }], async () => {
      place.ran.push("dev");
    });
    const session = await maestro.start(work, { brief: "Look.", source: { git: folder } });
    expect(await session.result()).toMatchObject({
      status: "parked",
      reason: "setup",
      error: { code: "SETUP_FAILED", message: expect.stringMatching(message) },
    });
    expect(place.ran).toEqual([]);
  });

  test("npm test whose script names a missing program parks with what npm printed", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const made = new TestRepository().write(
      "package.json",
      JSON.stringify({ name: "shop", version: "1.0.0", scripts: { test: "no-such-runner" } }),
    );
    made.commit();
    const work = team([{ name: "test", run: ["npm", "test"] }]);
    const session = await maestro.start(work, { brief: "Look.", source: { git: made.folder } });
    const result = await session.result();
    expect(result).toMatchObject({ status: "parked", reason: "setup" });
    const { output, printed } = (result.error?.details ?? {}) as { output: string; printed: string };
    expect(printed).toMatch(/no-such-runner: not found/);
    expect((await maestro.artifact(session.id, output)).toString()).toContain(printed.split("\n").at(-1));
  });

  test("an optional one only counts against the gate, and one that a persona has yet to write is tried later", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { folder } = repository();
    const work = defineTeam("writers", {
      phases: [
        phase("write", {
          personas: [
            persona("dev", {
              contract: {
                deliverables: ["check.sh"],
                checks: [
                  { name: "own", run: ["./check.sh"] },
                  { name: "optional", run: ["no-such-program-here"], must: false },
                ],
              },
              run: async ({ workspace }) => {
                await workspace.write("check.sh", "#!/bin/sh\nexit 0\n", { executable: true });
                return { summary: "done" };
              },
            }),
          ],
        }),
      ],
    });
    const session = await maestro.start(work, { brief: "Write.", source: { git: folder } });
    await session.result();
    expect((await maestro.show(session.id)).baseline).toMatchObject([
      { check: "own" },
      { check: "optional", status: "not-run" },
    ]);
  });

  test("a resume measures again what could not be started, and nothing else", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { folder } = repository();
    const first = nodeTest({ must: "no-worse" });
    const missing = team([first, { name: "lint", run: ["no-such-program-here"] }]);
    const session = await maestro.start(missing, { brief: "Look.", key: "k", source: { git: folder } });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "setup" });
    place.events.length = 0;
    const mended = team([first, { name: "lint", run: ["test", "-f", "src/sum.mjs"] }]);
    const resumed = await maestro.resume("k", { team: mended, acceptChanges: true });
    expect(await resumed.result()).toMatchObject({ status: "completed" });
    expect(place.events.filter(({ kind }) => kind === "baseline.measured")).toMatchObject([
      { checks: ["lint"] },
    ]);
  });
});

describe("without a repository", () => {
  test("a program that is not installed is known before a persona works", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const work = team([{ name: "lint", run: ["no-such-program-here"] }], async () => {
      place.ran.push("dev");
    });
    const session = await maestro.start(work, { brief: "Work." });
    expect(await session.result()).toMatchObject({
      status: "parked",
      reason: "setup",
      error: {
        message: "The check lint of dev cannot be started: no-such-program-here is not installed.",
        advice: "Install no-such-program-here on this machine.",
      },
    });
    expect(place.ran).toEqual([]);
    expect((await maestro.show(session.id)).baseline).toEqual([]);
  });

  test("only the phases that run count", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const worker = (name: string, checks: readonly CheckOptions[]) =>
      phase(name, {
        personas: [persona(`${name}_dev`, { contract: { checks }, run: place.work(name) })],
      });
    const work = defineTeam("two", {
      phases: [worker("one", []), worker("two", [{ name: "lint", run: ["no-such-program-here"] }])],
    });
    const session = await maestro.start(work, { brief: "Work.", until: "one" });
    expect(await session.result()).toMatchObject({ status: "paused" });
    expect(place.ran).toEqual(["one"]);
    const resumed = await maestro.resume(session.id);
    expect(await resumed.result()).toMatchObject({ status: "parked", reason: "setup" });
  });

  test("no-worse asks for a pass, and a check that ran no tests does not pass", async () => {
    const place = new TeamPlace();
    const maestro = await place.open({ rounds: { max: 1 } });
    const empty = rewrites("test/a.test.mjs", "// no test yet\n");
    const session = await maestro.start(team([nodeTest({ must: "no-worse" })], empty), { brief: "Work." });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "help" });
    const [attempt] = (await maestro.show(session.id)).phases[0]?.personas[0]?.attempts ?? [];
    expect(attempt?.failure?.message).toContain("node ended with 0, but it ran no tests (minTests: 1)");
  });

  test("variables are passed through by name, and the value of a secret one is masked", async () => {
    const place = new TeamPlace();
    vi.stubEnv("SHOP_API_TOKEN", "canary-4711-token");
    vi.stubEnv("SHOP_COLOR", "teal-and-orange");
    onTestFinished(() => void vi.unstubAllEnvs());
    const maestro = await place.open();
    const print = "echo $SHOP_API_TOKEN $SHOP_COLOR $SHOP_OTHER; echo $SHOP_API_TOKEN >&2";
    const check = { name: "env", run: ["sh", "-c", print], env: ["SHOP_API_TOKEN", "SHOP_COLOR"] };
    const session = await maestro.start(team([check]), { brief: "Work." });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const { phases } = await maestro.show(session.id);
    const output = phases[0]?.checks[0]?.results[0]?.output ?? "";
    expect((await maestro.artifact(session.id, output)).toString()).toBe(
      "[redacted] teal-and-orange\n[redacted]\n",
    );
  });
});
