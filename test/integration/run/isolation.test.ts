import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { isolatedTeam } from "../../../src/api/isolated-team.ts";
import { loadTeam, type OpenOptions, open, type Team } from "../../../src/index.ts";
import { startOf } from "../../../src/workspace/process-end.ts";
import { readRecorded } from "../../crash/support/recorded.ts";
import deafTeam from "./programs/deaf-team.ts";
import forkedTeam from "./programs/forked-team.ts";
import heavyTeam from "./programs/heavy-team.ts";
import team, { behaviors } from "./programs/parity-team.ts";
import tickingTeam from "./programs/ticking-team.ts";

const program = (name: string) => join(import.meta.dirname, "programs", name);
const isolation = { memoryMb: 512, prices: undefined };
const isolated = isolatedTeam(team, program("parity-team.ts"), isolation);

const quick: OpenOptions = {
  attempts: { max: 2, baseDelayMs: 0, maxDelayMs: 0 },
  rounds: { max: 1 },
  budget: { dayUsd: 100 },
};

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "maestro-isolation-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** All that a session of the team records and shows. */
async function record(of: Team, brief: string) {
  const folder = newFolder();
  const logged: string[] = [];
  const onEvent: OpenOptions["onEvent"] = (event) => {
    if (event.kind === "log") logged.push(event.message);
  };
  const maestro = await open({ ...quick, stateDir: folder, onEvent });
  const session = await maestro.start(of, { brief, key: "k" });
  const { status, results, error } = await session.result();
  const { usage, artifacts } = await maestro.show("k");
  await maestro.close();
  const { rows } = await readRecorded(folder, "k");
  const recorded = rows
    .filter(({ kind }) => kind.startsWith("step.") || kind.startsWith("attempt."))
    .map(({ kind, name, fingerprint, occurrence, body }) => {
      // How long a call took differs between two runs; a process of its own does not measure it.
      const timeless = body
        .replaceAll(/("notBefore":)\d+/g, "$1<time>")
        .replaceAll(/,?"timing":\{[^}]*\}/g, "");
      return { kind, name, fingerprint, occurrence, body: timeless };
    });
  return { status, results, error: error?.message, usage, artifacts, logged, recorded };
}

test.each(Object.keys(behaviors))(
  "a function records the same in a process of its own as in the server: %s",
  async (brief) => {
    const [here, there] = [await record(team, brief), await record(isolated, brief)];
    expect(there).toEqual(here);
    expect(here.recorded.length).toBeGreaterThan(1);
  },
);

test("a fork counts the same saving for a call that its parent paid", async () => {
  const savedBy = async (of: Team) => {
    const maestro = await open({ ...quick, stateDir: newFolder() });
    const { id } = await (await maestro.start(of, { brief: "b" })).result();
    const edits = { first: { outputs: { changed: true } } };
    const fork = await maestro.fork(id, { at: "second", edits, team: of });
    const { results } = await (await maestro.resume(fork.id, { team: of })).result();
    const { usage } = await maestro.show(fork.id);
    await maestro.close();
    return { usage, pid: results["second"]?.["worker"]?.outputs["pid"] };
  };
  const here = await savedBy(forkedTeam);
  const there = await savedBy(isolatedTeam(forkedTeam, program("forked-team.ts"), isolation));
  expect(there.usage).toEqual(here.usage);
  expect(here.usage).toMatchObject({ calls: 0, savedTokens: 6_005 });
  expect(here.pid).toBe(process.pid);
  expect(there.pid).not.toBe(process.pid);
});

test.each(["inputs", "results", "message"])(
  "a function that makes the server keep too much fails its attempt, and the memory of the server stays bounded: %s",
  async (brief) => {
    const heavy = isolatedTeam(heavyTeam, program("heavy-team.ts"), { ...isolation, memoryMb: 4_096 });
    const maestro = await open({ ...quick, stateDir: newFolder(), attempts: { max: 1 } });
    const before = process.memoryUsage.rss();
    let most = before;
    const sampling = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
    }, 5);
    onTestFinished(() => clearInterval(sampling));
    const session = await maestro.start(heavy, { brief });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "help" });
    const [attempt] = (await maestro.show(session.id)).phases[0]?.personas[0]?.attempts ?? [];
    expect(attempt?.failure).toMatchObject({ code: "PERSONA_CRASHED" });
    expect(attempt?.failure?.message).toContain(
      'Persona "worker" sent or asked for more than 128 MiB at once.',
    );
    expect((most - before) / 1e6, "megabytes").toBeLessThan(800);
    await maestro.close();
  },
);

test("a cancel ends the process of a function that ignores its signal", async () => {
  const folder = newFolder();
  const file = join(folder, "pid");
  const maestro = await open({ ...quick, stateDir: folder });
  const session = await maestro.start(isolatedTeam(deafTeam, program("deaf-team.ts"), isolation), {
    brief: file,
  });
  await vi.waitUntil(() => existsSync(file), { timeout: 60_000 });
  const pid = Number(readFileSync(file, "utf8"));
  expect(await startOf(pid)).toBeDefined();
  await maestro.cancel(session.id);
  expect((await session.result()).status).toBe("canceled");
  await vi.waitUntil(async () => (await startOf(pid)) === undefined, { timeout: 60_000 });
  await maestro.close();
});

test("a pause ends the process at its next step, and a resume continues in another one without repeating a step", async () => {
  const folder = newFolder();
  const file = join(folder, "ticks");
  const ticking = isolatedTeam(tickingTeam, program("ticking-team.ts"), isolation);
  const ticks = () =>
    (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []).map((line) =>
      line.split(" ").map(Number),
    );
  const maestro = await open({ ...quick, stateDir: folder });
  const session = await maestro.start(ticking, { brief: file });
  await vi.waitUntil(() => ticks().length >= 3, { timeout: 60_000 });
  await maestro.pause(session.id);
  expect((await session.result()).status).toBe("paused");
  const [, first = 0] = ticks()[0] ?? [];
  expect(await startOf(first)).toBeUndefined();
  const before = ticks().length;
  writeFileSync(`${file}.go`, "");
  expect((await (await maestro.resume(session.id, { team: ticking })).result()).status).toBe("completed");
  await maestro.close();
  expect(ticks().map(([tick]) => tick)).toEqual(Array.from({ length: before + 1 }, (_, index) => index + 1));
  expect(new Set(ticks().map(([, pid]) => pid)).size).toBe(2);
});

test("a team file whose definition changed under the server parks the session for a person", async () => {
  const folder = newFolder();
  const file = join(folder, "team.ts");
  const library = join(import.meta.dirname, "../../../src/index.ts");
  const write = (name: string) =>
    writeFileSync(
      file,
      `import { defineTeam, persona, phase } from ${JSON.stringify(library)};
      const worker = persona("worker", { run: async () => ({ summary: "done" }) });
      export default defineTeam("own", { phases: [phase(${JSON.stringify(name)}, { personas: [worker] })] });`,
    );
  write("before");
  const { team: loaded } = await loadTeam(file);
  write("after");
  const maestro = await open({ ...quick, stateDir: join(folder, "state") });
  const session = await maestro.start(isolatedTeam(loaded, file, isolation), { brief: "b" });
  expect(await session.result()).toMatchObject({ status: "parked", reason: "help" });
  const [attempt] = (await maestro.show(session.id)).phases[0]?.personas[0]?.attempts ?? [];
  expect(attempt?.failure?.message).toContain("another definition than when the server loaded it");
  await maestro.close();
});
