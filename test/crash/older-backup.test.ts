import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { SessionConflict } from "../../src/index.ts";
import { BackedUp, copyDatabase } from "./damage-support/backed-up.ts";

const folder = mkdtempSync(join(tmpdir(), "maestro-older-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = join(import.meta.dirname, "damage-support/back-up-and-die.ts");

/** A killed run up to a phase, under a database from the middle of its second phase. */
async function underOlderBackup(until: string) {
  const session = new BackedUp(mkdtempSync(join(folder, "state-")));
  const backup = mkdtempSync(join(folder, "backup-"));
  const told = await new Promise<string>((resolve) =>
    execFile(process.execPath, [program, session.stateDir, backup, until], (_, stdout) => resolve(stdout)),
  );
  const { id, total } = JSON.parse(told) as {
    readonly id: string;
    readonly total: { readonly calls: number };
  };
  copyDatabase(backup, session.stateDir);
  const at = join(session.stateDir, "sessions", id);
  const sealed = () =>
    Object.fromEntries(
      readdirSync(at)
        .filter((name) => name.startsWith("checkpoint_"))
        .map((name) => [name, readFileSync(join(at, name), "utf8")]),
    );
  return { session, id, total, sealed };
}

const refusal = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "accepted",
    (error: unknown) => error,
  );

test("a session from an older backup does not run, and no newer checkpoint is written over", async () => {
  const { session, id, sealed } = await underOlderBackup("build");
  const before = sealed();
  expect(Object.keys(before)).toContain("checkpoint_build.json");
  await session.with(async (maestro) => {
    const acts = [
      () => maestro.resume(id).then((resumed) => resumed.result()),
      () => maestro.executePhase(id, "build"),
      () => maestro.queueResume(id),
      () => maestro.cancel(id),
    ];
    for (const act of acts) {
      const error = await refusal(act());
      expect(SessionConflict.is(error), `${String(act)}: ${String(error)}`).toBe(true);
      const { message, exitCode, actions } = error as SessionConflict;
      expect(message).toMatch(/The database is older .* checkpoint_build\.json/);
      expect(exitCode).toBe(2);
      expect(actions[0]?.command).toEqual(["maestro", "checkpoints", "restore", id]);
    }
    const reports: string[] = [];
    await maestro.scheduler({ places: 1, report: (text) => reports.push(text) }).tick();
    expect(reports.join("\n")).toMatch(/could not be resumed: .*The database is older/);
    expect((await maestro.show(id)).newerCheckpoints).toEqual(["checkpoint_build.json"]);
    const { conflict } = await maestro.verify((await maestro.find(id)).id);
    expect(conflict?.message).toMatch(/The database is older .* checkpoint_build\.json/);
  });
  expect(sealed()).toEqual(before);
  expect(session.ran).toEqual([]);
  // A refused act is not done later.
  await session.with(async (maestro) => {
    await maestro.restoreCheckpoints(id);
    expect((await (await maestro.resume(id)).result()).status).toBe("completed");
  });
});

test("newer sealed work is restored into the database, and a resume repeats no call of it", async () => {
  const { session, id, total, sealed } = await underOlderBackup("build");
  const before = sealed();
  await session.with(async (maestro) => {
    expect(await maestro.restoreCheckpoints(id)).toMatchObject({
      session: id,
      checkpoints: ["checkpoint_build.json"],
    });
    expect(await maestro.show(id)).toMatchObject({ status: "paused", newerCheckpoints: [] });
    expect((await maestro.checkpoints(id)).map(({ valid }) => valid)).toEqual([true, true, true]);
    const { total: restored } = await maestro.usage({ by: "session", session: id });
    expect(restored).toEqual(total);
    const result = await (await maestro.resume(id)).result();
    expect(result.status).toBe("completed");
    const { total: after } = await maestro.usage({ by: "session", session: id });
    expect(after.calls, "two phases are paid, and one more").toBe((total.calls / 2) * 3);
    expect(await maestro.restoreCheckpoints(id)).toEqual({ session: id, checkpoints: [], rows: 0 });
  });
  expect(session.ran).toEqual(["test"]);
  expect(sealed()).toMatchObject(before);
});

test("a session that was completed after the backup is completed again, with all its files", async () => {
  const { session, id } = await underOlderBackup("test");
  await session.with(async (maestro) => {
    const restored = await maestro.restoreCheckpoints(id);
    expect(restored.checkpoints).toEqual(["checkpoint_build.json", "checkpoint_test.json"]);
    const { status, artifacts } = await maestro.show(id);
    expect(status).toBe("completed");
    expect(artifacts).toHaveLength(6);
    for (const { sha256 } of artifacts) await maestro.artifact(id, sha256);
  });
  expect(session.ran).toEqual([]);
});

test("a newer checkpoint that is damaged does not keep the session from running", async () => {
  const { session, id } = await underOlderBackup("build");
  const file = join(session.stateDir, "sessions", id, "checkpoint_build.json");
  truncateSync(file, 100);
  await session.with(async (maestro) => {
    expect((await maestro.show(id)).newerCheckpoints).toEqual([]);
    expect((await (await maestro.resume(id)).result()).status).toBe("completed");
  });
  expect(session.ran).toEqual(["test"]);
});
