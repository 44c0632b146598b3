import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test, vi } from "vitest";
import { StateRemoved } from "../../src/domain/errors.ts";
import { defineTeam, open, persona, phase } from "../../src/index.ts";
import { maestro, start, temporaryFolder } from "../e2e/support/maestro.ts";

const team = join(import.meta.dirname, "damage-support/counting-team.ts");
const files = ["maestro.db", "maestro.db-wal", "maestro.db-shm"];

interface Place {
  readonly folder: string;
  readonly stateDir: string;
  readonly brief: string;
}

function place(pace: "fast" | "long" | "deaf"): Place {
  const folder = temporaryFolder();
  return { folder, stateDir: join(folder, "state"), brief: join(folder, pace) };
}

const linesOf = ({ brief }: Place, file: "effects" | "acknowledged"): string[] =>
  existsSync(`${brief}.${file}`) ? readFileSync(`${brief}.${file}`, "utf8").trim().split("\n") : [];

/** A driver of a real process, in the middle of its work. */
async function running(at: Place) {
  const { brief, stateDir } = at;
  const run = start(["run", brief, "--team", team, "--key", "k", "--state-dir", stateDir]);
  const isUnderWay = () =>
    brief.endsWith("fast")
      ? linesOf(at, "acknowledged").length >= 10
      : linesOf(at, "effects").at(-1) === "long";
  await vi.waitUntil(() => isUnderWay() || run.child.exitCode !== null, { timeout: 60_000 });
  return run;
}

const removals: readonly (readonly [string, (stateDir: string) => void])[] = [
  ["the database is unlinked", (stateDir) => files.forEach((name) => unlinkSync(join(stateDir, name)))],
  ["only its log is unlinked", (stateDir) => unlinkSync(join(stateDir, "maestro.db-wal"))],
  ["the state directory is moved", (stateDir) => renameSync(stateDir, `${stateDir}.moved`)],
  [
    "the state directory is replaced by another",
    (stateDir) => {
      renameSync(stateDir, `${stateDir}.moved`);
      cpSync(`${stateDir}.moved`, stateDir, { recursive: true });
    },
  ],
  ["the state directory is deleted", (stateDir) => rmSync(stateDir, { recursive: true, force: true })],
];

describe("a driver whose state is removed", () => {
  test.each(removals)("stops in the middle of steps and acknowledges none: %s", async (_, remove) => {
    const at = place("fast");
    const run = await running(at);
    remove(at.stateDir);
    const acknowledged = linesOf(at, "acknowledged").length;
    const { code, stderr } = await run.finished;
    expect(code).toBe(5);
    expect(stderr).toMatch(/was (removed or moved away|replaced by another file) while this process used it/);
    expect(stderr).toContain("(STATE_REMOVED)");
    expect(stderr).toContain("--state-dir");
    // One step may have been committed before, and its line written after.
    expect(linesOf(at, "acknowledged").length).toBeLessThanOrEqual(acknowledged + 1);
  });

  test.each(removals)("stops in a long call, which is aborted: %s", async (_, remove) => {
    const at = place("long");
    const run = await running(at);
    remove(at.stateDir);
    expect(await run.finished).toMatchObject({ code: 5 });
    expect(run.output()).toContain("(STATE_REMOVED)");
  });

  test("stops although its work ignores that it was aborted", async () => {
    const at = place("deaf");
    const run = await running(at);
    renameSync(at.stateDir, `${at.stateDir}.moved`);
    expect(await run.finished).toMatchObject({ code: 5 });
    expect(run.output()).toContain("(STATE_REMOVED)");
  });

  test("leaves no directory behind where the state directory was", async () => {
    const at = place("fast");
    const run = await running(at);
    renameSync(at.stateDir, `${at.stateDir}.moved`);
    await run.finished;
    expect(existsSync(at.stateDir)).toBe(false);
  });

  test("can be resumed where the state directory is now: acknowledged steps are there and do not run again", async () => {
    const at = place("fast");
    const run = await running(at);
    const moved = `${at.stateDir}.moved`;
    renameSync(at.stateDir, moved);
    await run.finished;
    const acknowledged = linesOf(at, "acknowledged");
    const recorded = stepsIn(moved);
    for (const number of acknowledged) expect(recorded).toContain(`step ${number}`);
    const resumed = await maestro(["resume", "k", "--team", team, "--state-dir", moved]);
    expect(resumed).toMatchObject({ code: 0 });
    const effects = Map.groupBy(linesOf(at, "effects"), (line) => line);
    expect([...effects.keys()]).toHaveLength(100);
    for (const number of acknowledged) expect(effects.get(number)).toHaveLength(1);
  });

  test("does not write into the directory that replaced its own, and a resume there takes the session over", async () => {
    const at = place("fast");
    const run = await running(at);
    const moved = `${at.stateDir}.moved`;
    renameSync(at.stateDir, moved);
    cpSync(moved, at.stateDir, { recursive: true });
    const [before, acknowledged] = [stepsIn(at.stateDir), linesOf(at, "acknowledged")];
    await run.finished;
    expect(stepsIn(at.stateDir)).toEqual(before);
    const resumed = await maestro(["resume", "k", "--team", team, "--state-dir", at.stateDir]);
    expect(resumed).toMatchObject({ code: 0 });
    const effects = Map.groupBy(linesOf(at, "effects"), (line) => line);
    const kept = acknowledged.filter((number) => before.includes(`step ${number}`));
    for (const number of kept) expect(effects.get(number)).toHaveLength(1);
  });
});

describe("a server whose state is removed", () => {
  test.each(removals)("says so and ends with exit 5, also while it drives: %s", async (_, remove) => {
    const at = place("long");
    mkdirSync(at.stateDir);
    const server = start(["serve", "--port", "0", "--json", "--team", team, "--state-dir", at.stateDir]);
    await vi.waitUntil(() => server.output().includes('"url"'), { timeout: 60_000 });
    const { url } = JSON.parse(
      server
        .output()
        .split("\n")
        .find((line) => line.startsWith("{")) ?? "",
    ) as {
      url: string;
    };
    const token = readFileSync(join(at.stateDir, "api-token"), "utf8").trim();
    const created = await fetch(`${url}/v1/sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ team: "counting", brief: at.brief }),
    });
    expect(created.status).toBeLessThan(300);
    await vi.waitUntil(() => linesOf(at, "effects").at(-1) === "long", { timeout: 60_000 });
    remove(at.stateDir);
    const { code, stderr } = await server.finished;
    expect(code).toBe(5);
    expect(stderr).toContain("Stopping: the state directory was removed or replaced.");
    expect(stderr).toContain("(STATE_REMOVED)");
  });

  test("ends with exit 5 while it is idle", async () => {
    const at = place("fast");
    const server = start(["serve", "--port", "0", "--json", "--state-dir", at.stateDir]);
    await vi.waitUntil(() => server.output().includes('"url"'), { timeout: 60_000 });
    renameSync(at.stateDir, `${at.stateDir}.moved`);
    expect(await server.finished).toMatchObject({ code: 5 });
  });
});

test("the library rejects the result, aborts the work, tells its listener and refuses every later call", async () => {
  const at = place("long");
  const begun = Promise.withResolvers<AbortSignal>();
  const work = persona("waiter", {
    run: async ({ step, signal }) => {
      await step("wait", () => {
        begun.resolve(signal);
        return new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason as Error)),
        );
      });
      return { summary: "never" };
    },
  });
  const waiters = defineTeam("waiters", { phases: [phase("wait", { personas: [work] })] });
  const hive = await open({ stateDir: at.stateDir, teams: [waiters] });
  const heard = new Promise((resolve) => hive.onStateRemoved(resolve));
  const session = await hive.start(waiters, { brief: "Wait." });
  const result = session.result().catch((error: unknown) => error);
  const signal = await begun.promise;
  renameSync(at.stateDir, `${at.stateDir}.moved`);
  expect(await result).toBeInstanceOf(StateRemoved);
  expect(signal.aborted).toBe(true);
  expect(await heard).toBeInstanceOf(StateRemoved);
  await expect(hive.show(session.id)).rejects.toThrow(StateRemoved);
  await expect(hive.start(waiters, { brief: "Again." })).rejects.toThrow(StateRemoved);
  await hive.close();
  expect(existsSync(at.stateDir)).toBe(false);
});

/** The names of all recorded steps. */
function stepsIn(stateDir: string): string[] {
  const database = new DatabaseSync(join(stateDir, "maestro.db"), { readOnly: true });
  const rows = database
    .prepare("SELECT name FROM journal WHERE kind = 'step.function' ORDER BY position")
    .all();
  database.close();
  return rows.map(({ name }) => String(name));
}
