import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { breakerPolicy } from "../../../src/domain/breaker.ts";
import { DatabaseFiles } from "../../../src/store/sqlite/database-files.ts";
import { ensureSchema, openDatabase } from "../../../src/store/sqlite/open-database.ts";
import { ThreadWriter } from "../../../src/store/sqlite/writer-client.ts";

/** A database that is away while the thread starts, so that the thread dies of it. */
function databaseElsewhere() {
  const directory = mkdtempSync(join(tmpdir(), "maestro-writer-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const [home, elsewhere] = [join(directory, "home"), join(directory, "elsewhere")];
  mkdirSync(home);
  const path = join(home, "maestro.db");
  // Open as long as the writer is, like the connection that a store reads with: the last one removes the log.
  const database = openDatabase(path);
  onTestFinished(() => database.close());
  ensureSchema(database, path);
  const files = new DatabaseFiles(path);
  renameSync(home, elsewhere);
  return {
    path,
    files,
    bringBack: () => renameSync(elsewhere, home),
    takeAway: () => renameSync(home, elsewhere),
  };
}

/** Without a turn of the event loop: what the thread says about its end is not heard yet. */
function stand(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const reset = { verb: "reset-breaker", dependency: "api.example.org", at: 0 } as const;
const admit = {
  verb: "admit",
  use: { dependency: "api.example.org", owner: "somebody", policy: breakerPolicy },
  at: 0,
} as const;

test("commands that a dead writer did not have yet are committed by the next one, each with its own answer", async () => {
  const { path, files, bringBack } = databaseElsewhere();
  const writer = new ThreadWriter(path, files);
  onTestFinished(() => writer.close());
  writer.beat("somebody", 60_000);
  // From a timer after an immediate: the thread's end is heard after it, and before the command is handed over.
  await setImmediate();
  const due = sleep(1);
  stand(1_000);
  bringBack();
  await due;
  expect(await writer.submit(reset)).toMatchObject({ kind: "removed" });
  expect(await writer.submit(admit)).toMatchObject({ kind: "admission" });
  expect(await writer.submit(reset)).toMatchObject({ kind: "removed" });
});

test("commands that a writer had when it died fail", async () => {
  const { path, files, bringBack } = databaseElsewhere();
  const writer = new ThreadWriter(path, files);
  onTestFinished(() => writer.close());
  expect(await writer.submit(reset)).toMatchObject({ kind: "failed" });
  bringBack();
  expect(await writer.submit(admit)).toMatchObject({ kind: "admission" });
});

test("while another connection holds the lock, the writer waits for it and the caller's thread does not", async () => {
  const { path, files, bringBack } = databaseElsewhere();
  bringBack();
  const writer = new ThreadWriter(path, files);
  onTestFinished(() => writer.close());
  expect(await writer.submit(admit), "its thread runs").toMatchObject({ kind: "admission" });
  const other = openDatabase(path);
  other.exec("BEGIN IMMEDIATE");
  let answered = false;
  const reply = writer.submit(reset).then((reply) => {
    answered = true;
    return reply;
  });
  // Waiting here for the lock would take until the lock is given up for lost, and this would never let go of it.
  for (let turn = 0; turn < 1_000; turn += 1) await setImmediate();
  expect(answered).toBe(false);
  other.exec("COMMIT");
  other.close();
  expect(await reply).toMatchObject({ kind: "removed" });
  expect(await writer.submit(admit)).toMatchObject({ kind: "admission" });
});

test("a thread that cannot start fails the writes: without it no beat would be sent", async () => {
  const { path, files, bringBack, takeAway } = databaseElsewhere();
  bringBack();
  const writer = new ThreadWriter(path, files);
  onTestFinished(() => writer.close());
  expect(await writer.submit(reset)).toMatchObject({ kind: "removed" });
  takeAway();
  writer.beat("somebody", 60_000);
  // This thread could keep writing to a file that it has open.
  await vi.waitUntil(async () => (await writer.submit(reset)).kind === "failed", { timeout: 20_000 });
  bringBack();
  expect(await writer.submit(admit)).toMatchObject({ kind: "admission" });
});

test("before the thread has started, a command that fails does not fail the others", async () => {
  const { path, files, bringBack } = databaseElsewhere();
  bringBack();
  const writer = new ThreadWriter(path, files);
  onTestFinished(() => writer.close());
  const toNobody = { verb: "signal", session: 4_711, at: 1, body: "{}" } as const;
  const replies = await Promise.all([reset, toNobody, admit].map((command) => writer.submit(command)));
  expect(replies.map(({ kind }) => kind)).toEqual(["removed", "failed", "admission"]);
});

test("closing at once waits for all submitted commands, and each gets its own answer", async () => {
  const { path, files, bringBack } = databaseElsewhere();
  bringBack();
  const writer = new ThreadWriter(path, files);
  const commands = Array.from({ length: 300 }, (_, number) => (number % 3 === 0 ? reset : admit));
  const replies = commands.map((command) => writer.submit(command));
  writer.beat("somebody", 60_000);
  await writer.close();
  const kinds = (await Promise.all(replies)).map(({ kind }) => kind);
  expect(kinds).toEqual(commands.map(({ verb }) => (verb === "admit" ? "admission" : "removed")));
});
