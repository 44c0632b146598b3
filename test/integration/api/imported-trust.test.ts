import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
  defineTeam,
  type Maestro,
  NotTrusted,
  type OpenOptions,
  open,
  persona,
  phase,
} from "../../../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "maestro-trust-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every step whose effect ran. */
const ran: string[] = [];
const team = defineTeam("foreign", {
  phases: ["plan", "build"].map((name) =>
    phase(name, {
      personas: [
        persona("worker", {
          run: async ({ step }) => {
            await step("work", async () => void ran.push(name));
            return { summary: name };
          },
        }),
      ],
    }),
  ),
});
/** A session that stopped after its first phase, and one that is complete. */
const [half, whole] = [join(folder, "half.maestro"), join(folder, "whole.maestro")];

beforeAll(async () => {
  const maestro = await open({ stateDir: join(folder, "source"), teams: [team] });
  const teamFile = join(folder, "team.ts");
  const first = await maestro.start(team, { brief: "b", key: "half", until: "plan", teamFile });
  await first.result();
  await maestro.exportCheckpoints("half", half);
  await (await maestro.start(team, { brief: "b", key: "whole" })).result();
  await maestro.exportCheckpoints("whole", whole);
  await maestro.close();
});

let places = 0;
async function openNew(options: OpenOptions = {}): Promise<Maestro> {
  places += 1;
  return openAt(join(folder, `state-${places}`), options);
}

async function openAt(stateDir: string, options: OpenOptions = {}): Promise<Maestro> {
  ran.length = 0;
  const maestro = await open({ stateDir, teams: [team], ...options });
  onTestFinished(() => maestro.close());
  return maestro;
}

function loseDatabase(stateDir: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(join(stateDir, `maestro.db${end}`), { force: true });
}

/** The status after a plain resume, or the name of the error that refuses it. */
const resumedAs = (maestro: Maestro, session: string): Promise<string> =>
  maestro
    .resume(session)
    .then((started) => started.result())
    .then(
      ({ status }) => status,
      ({ name }: Error) => name,
    );

test("an import that no person trusted can be looked at, and does not run", async () => {
  const maestro = await openNew();
  const { session, trusted, demands } = await maestro.importCheckpoints(half);
  expect({ trusted, demands: demands.map(({ kind }) => kind) }).toEqual({
    trusted: false,
    demands: ["code"],
  });
  const before = await maestro.show(session);
  expect(before).toMatchObject({ status: "paused", imported: { trusted: false } });
  expect(await maestro.checkpoints(session)).toHaveLength(2);
  const acts = [
    () => maestro.resume(session),
    () => maestro.executePhase(session, "build"),
    () => maestro.executeBatch(session),
    () => maestro.executeMixed(session, { pauseAfter: ["build"] }),
    () => maestro.queueResume(session),
    () => maestro.fork(session, { at: "build" }),
    () => maestro.start(team, { brief: "b", key: "half" }).then((started) => started.result()),
    () => maestro.queue(team, { brief: "b", key: "half" }),
  ];
  for (const act of acts) {
    const error = await act().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(NotTrusted.is(error), `${String(act)}: ${String(error)}`).toBe(true);
    const { message, exitCode, actions } = error as NotTrusted;
    expect(message).toContain("worker runs code of its team module");
    expect(exitCode).toBe(2);
    expect(actions.at(-1)?.command).toEqual(["maestro", "resume", session, "--trust"]);
  }
  const { updatedAt: _, ...after } = await maestro.show(session);
  expect(before).toMatchObject(after);
  expect(ran).toEqual([]);
});

test("an import that no person trusted is neither decided about nor delivered", async () => {
  const repository = join(folder, "repository");
  execFileSync("git", ["init", "--quiet", repository]);
  writeFileSync(join(repository, "a.txt"), "mine");
  const source = await openNew();
  await (await source.start(team, { brief: "b", key: "review", pauseAfter: ["plan"] })).result();
  const review = join(folder, "review.maestro");
  await source.exportCheckpoints("review", review);
  const maestro = await openNew();
  const { session: waiting } = await maestro.importCheckpoints(review);
  const { session: done } = await maestro.importCheckpoints(whole);
  const acts = [
    () => maestro.approve(waiting),
    () => maestro.reject(waiting, { note: "other" }),
    () => maestro.settle(waiting, "work", { happened: false }),
    () => maestro.apply(done, { to: repository }),
    () => maestro.branch(done, { branch: "theirs", repo: repository }),
  ];
  for (const act of acts) {
    const error = await act().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(NotTrusted.is(error), `${String(act)}: ${String(error)}`).toBe(true);
  }
  expect(execFileSync("git", ["branch", "--list"], { cwd: repository }).toString()).toBe("");
  await maestro.cancel(waiting);
  expect(await maestro.show(waiting)).toMatchObject({ status: "canceled" });
});

test("no scheduler takes an import that no person trusted", async () => {
  const maestro = await openNew();
  const { session } = await maestro.importCheckpoints(half);
  await expect(maestro.queueResume(session)).rejects.toThrow(/no person has trusted it/);
  const scheduler = maestro.scheduler({ places: 1, report: () => {} });
  await scheduler.tick();
  expect(ran).toEqual([]);
  expect((await maestro.show(session)).status).toBe("paused");
});

test("a resume with trust records what the person saw, and runs what is left", async () => {
  const maestro = await openNew();
  const { session } = await maestro.importCheckpoints(half);
  const result = await (await maestro.resume(session, { trust: true })).result();
  expect(result.status).toBe("completed");
  expect(ran).toEqual(["build"]);
  expect(await maestro.show(session)).toMatchObject({ imported: { trusted: true } });
  const rows: { readonly kind: string; readonly body: string }[] = [];
  for await (const page of maestro.rows(session)) rows.push(...page);
  expect(rows.find(({ kind }) => kind === "session.trusted")?.body).toBe(
    JSON.stringify({ demands: ["worker runs code of its team module"] }),
  );
  // Once is enough.
  expect((await maestro.fork(session, { at: "build", fresh: true })).id).not.toBe(session);
});

test("an import with trust is resumed like any other session", async () => {
  const maestro = await openNew();
  const { session } = await maestro.importCheckpoints(half, { trust: true });
  expect((await (await maestro.resume(session)).result()).status).toBe("completed");
});

test("trust stays behind when a session is exported", async () => {
  const maestro = await openNew();
  const { session } = await maestro.importCheckpoints(half, { trust: true });
  await (await maestro.resume(session)).result();
  const file = join(folder, "again.maestro");
  await maestro.exportCheckpoints(session, file);
  const other = await openNew();
  await other.importCheckpoints(file);
  expect(await other.show(session)).toMatchObject({ status: "completed", imported: { trusted: false } });
  await expect(other.fork(session, { at: "build", fresh: true })).rejects.toThrow(/no person has trusted it/);
});

test.each([[false], [true]])(
  "a lost database does not change whether an import is trusted (%s)",
  async (trust) => {
    places += 1;
    const stateDir = join(folder, `state-${places}`);
    const before = await openAt(stateDir);
    const { session } = await before.importCheckpoints(half, { trust });
    await before.close();
    loseDatabase(stateDir);
    const after = await openAt(stateDir);
    expect(await after.show(session)).toMatchObject({ imported: { trusted: trust } });
    expect(await resumedAs(after, session)).toBe(trust ? "completed" : "NotTrusted");
  },
);

test.each([[false], [true]])(
  "files that are written again from the journal say whether their import is trusted (%s)",
  async (trust) => {
    places += 1;
    const stateDir = join(folder, `state-${places}`);
    const before = await openAt(stateDir);
    const { session } = await before.importCheckpoints(half, { trust });
    // A process that is killed between the rows of an import and its files leaves the same.
    rmSync(join(stateDir, "sessions", session), { recursive: true });
    await before.setBudget(session, { tokens: 1_000_000 });
    expect(await before.checkpoints(session)).toHaveLength(2);
    await before.close();
    loseDatabase(stateDir);
    const after = await openAt(stateDir);
    expect(await after.show(session)).toMatchObject({ imported: { trusted: trust } });
    expect(await resumedAs(after, session)).toBe(trust ? "completed" : "NotTrusted");
    expect(ran).toEqual(trust ? ["build"] : []);
  },
);

test("trust that was given before a kill is in the files that are written again", async () => {
  places += 1;
  const stateDir = join(folder, `state-${places}`);
  const before = await openAt(stateDir);
  const { session } = await before.importCheckpoints(half);
  const mark = join(stateDir, "sessions", session, "import.json");
  const untrusted = readFileSync(mark);
  await before.ensureTrusted(session, { trust: true });
  const trusted = readFileSync(mark);
  // A process that is killed between the row of the trust and the file leaves the same.
  writeFileSync(mark, untrusted);
  await before.setBudget(session, { tokens: 1_000_000 });
  expect(readFileSync(mark)).toEqual(trusted);
});

test("the listed model is the one that the session recorded, where a persona names none", async () => {
  const talking = defineTeam("talking", {
    model: "simulated",
    phases: [
      phase("wait", { personas: [persona("waiter", { run: async () => ({ summary: "waited" }) })] }),
      phase("talk", {
        personas: [
          persona("free", { instructions: "Talk." }),
          persona("bound", { instructions: "Talk.", model: "simulated" }),
        ],
      }),
    ],
  });
  const source = await openNew({ teams: [talking] });
  const options = { brief: "b", until: "wait", model: "openai-compatible/m" };
  const { id } = await (await source.start(talking, options)).result();
  const file = join(folder, "talking.maestro");
  await source.exportCheckpoints(id, file);
  const maestro = await openNew({ teams: [] });
  const { demands } = await maestro.importCheckpoints(file);
  const models = demands.flatMap(({ kind, persona: name, what }) => (kind === "model" ? [[name, what]] : []));
  expect(models).toEqual([
    ["free", "openai-compatible/m"],
    ["bound", "simulated"],
  ]);
  expect(await maestro.demands(id)).toEqual(demands);
  await expect(maestro.resume(id)).rejects.toThrow(
    /free sends the brief and its files to openai-compatible\/m/,
  );
});

test("an import has no team file, and neither has a fork of it", async () => {
  const maestro = await openNew();
  const { session } = await maestro.importCheckpoints(half, { trust: true });
  expect((await maestro.show(session)).teamFile).toBeNull();
  const fork = await maestro.fork(session, { at: "plan", fresh: true });
  expect((await maestro.show(fork.id)).teamFile).toBeNull();
  expect(existsSync(join(folder, "team.ts"))).toBe(false);
});

test("a completed session is completed where it is imported, in lists as well", async () => {
  const maestro = await openNew();
  const { session } = await maestro.importCheckpoints(whole);
  expect((await maestro.show(session)).status).toBe("completed");
  expect((await maestro.sessions()).map(({ status }) => status)).toEqual(["completed"]);
});
