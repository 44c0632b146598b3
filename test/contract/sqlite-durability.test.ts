import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { open } from "../../src/api/open.ts";
import { systemClock } from "../../src/domain/clock.ts";
import {
  type MaestroError,
  StateCorrupt,
  StateTooNew,
  StateUnavailable,
  StorageFailed,
} from "../../src/domain/errors.ts";
import { openDatabase } from "../../src/store/sqlite/open-database.ts";
import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { runChild } from "./sqlite-child.ts";
import { createAndClaim, newestFirst, newSession, readAll, steps } from "./store-under-test.ts";

async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "maestro-durability-"));
  onTestFinished(async () => await rm(path, { recursive: true }));
  return path;
}

const newPath = async () => join(await temporaryDirectory(), "maestro.db");
const openStore = (path: string) => new SqliteStore({ path, clock: systemClock, leaseMs: 15_000 });

async function makeDatabase(path: string): Promise<void> {
  const store = openStore(path);
  await store.createSession(newSession());
  await store.close();
}

function change(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

function pragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

function refusal(act: () => unknown): MaestroError {
  try {
    act();
  } catch (error) {
    return error as MaestroError;
  }
  throw new Error("it was accepted");
}

describe("durability settings", () => {
  test("every connection writes ahead, syncs fully, checks references and waits for locks", async () => {
    const path = await newPath();
    const database = openDatabase(path);
    onTestFinished(() => database.close());
    expect(pragma(database, "journal_mode")).toBe("wal");
    expect(pragma(database, "synchronous")).toBe(2);
    expect(pragma(database, "foreign_keys")).toBe(1);
    expect(pragma(database, "busy_timeout")).toBe(5_000);
  });

  test("write-ahead logging is a property of the file, so other programs cannot undo it by opening", async () => {
    const path = await newPath();
    const store = openStore(path);
    await store.createSession(newSession());
    const stranger = new DatabaseSync(path);
    expect(pragma(stranger, "journal_mode")).toBe("wal");
    stranger.close();
    await store.close();
    const later = new DatabaseSync(path);
    expect(pragma(later, "journal_mode")).toBe("wal");
    expect(pragma(later, "integrity_check")).toBe("ok");
    expect(later.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
    later.close();
  });

  test("a database that cannot have them is not used", async () => {
    const path = await newPath();
    // No write-ahead log can be made where a folder has its name.
    await mkdir(`${path}-wal`);
    expect(refusal(() => openDatabase(path))).toBeInstanceOf(StorageFailed);
  });

  test("an acknowledged write is visible to other connections at that moment", async () => {
    const path = await newPath();
    const store = openStore(path);
    onTestFinished(() => store.close());
    const { id, lease } = await createAndClaim(store);
    const rows = await store.append(lease, steps(3));
    const other = openStore(path);
    expect((await readAll(other, id)).slice(2)).toEqual(rows);
    await other.close();
  });
});

describe("files", () => {
  test("the directory is the user's alone, and so is every file in it", async () => {
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    const stateDir = join(await temporaryDirectory(), "state");
    const maestro = await open({ stateDir });
    const database = openStore(join(stateDir, "maestro.db"));
    await database.createSession(newSession());
    const names = await readdir(stateDir);
    expect(names).toEqual(expect.arrayContaining(["maestro.db", "maestro.db-wal", "maestro.db-shm"]));
    for (const name of names) expect((await stat(join(stateDir, name))).mode & 0o777).toBe(0o600);
    expect((await stat(stateDir)).mode & 0o777).toBe(0o700);
    await database.close();
    await maestro.close();
  });

  test("closing twice is the same as closing once", async () => {
    const store = openStore(await newPath());
    await store.createSession(newSession());
    await store.close();
    await expect(store.close()).resolves.toBeUndefined();
  });

  test("closing while a claim is under way leaves no thread behind", async () => {
    const started: Worker[] = [];
    const onWorker = (worker: Worker) => started.push(worker);
    process.on("worker", onWorker);
    onTestFinished(() => void process.off("worker", onWorker));
    const store = openStore(await newPath());
    const { session } = await store.createSession(newSession());
    const claimed = store.claimSession(session.id, "start");
    // The claim has looked at the lease and is on its way to the writer.
    await new Promise((resolve) => process.nextTick(resolve));
    await Promise.all([store.close(), claimed]);
    await new Promise(setImmediate);
    expect(started).toHaveLength(0);
  });

  test("a directory that is gone is a clear error", async () => {
    const error = refusal(() => openStore(join(tmpdir(), "maestro-no-such-directory", "maestro.db")));
    expect(error).toBeInstanceOf(StateUnavailable);
    expect(error.advice).toContain("--state-dir");
  });
});

describe("the schema", () => {
  test.each([
    ["a newer", 999, StateTooNew, /newer maestro-hive/],
    ["an older", 1, StateUnavailable, /before 0\.1\.0/],
  ])("of %s format is refused, and not a byte of it changes", async (_, format, kind, reader) => {
    const path = await newPath();
    await makeDatabase(path);
    change(path, `DROP TABLE made_by; PRAGMA user_version = ${format}`);
    const before = await readFile(path);
    const error = refusal(() => openStore(path));
    expect(error).toBeInstanceOf(kind);
    expect(error.exitCode).toBe(2);
    expect(error.message).toContain(`has format ${format}`);
    expect(error.advice).toMatch(reader);
    expect(await readFile(path)).toEqual(before);
    expect(await readdir(join(path, ".."))).toEqual(["maestro.db"]);
  });

  test("of another format names the version that made it", async () => {
    const path = await newPath();
    await makeDatabase(path);
    change(path, "UPDATE made_by SET version = '7.8.9'; PRAGMA user_version = 999");
    expect(refusal(() => openStore(path)).advice).toContain("maestro-hive 7.8.9");
  });

  test.each([
    ["a renamed column", "identity         TEXT", "identitx         TEXT"],
    ["a changed constraint", "'queued','running'", "'pueued','running'"],
    ["a renamed table", "CREATE TABLE inbox", "CREATE TABLE inbpx"],
  ])("with %s is named as damage, whatever it would break", async (_, from, to) => {
    const path = await newPath();
    await makeDatabase(path);
    const bytes = (await readFile(path)).toString("latin1");
    // SQLite leaves copies behind in free space; all of them are changed.
    expect(bytes).toContain(from);
    await writeFile(path, Buffer.from(bytes.replaceAll(from, to), "latin1"));
    const error = refusal(() => openStore(path));
    expect(error).toBeInstanceOf(StateCorrupt);
    expect(error.advice).toContain(`mv ${path}`);
  });

  test("of another program is not taken for ours", async () => {
    const path = await newPath();
    change(path, "CREATE TABLE notes (text)");
    expect(refusal(() => openStore(path))).toBeInstanceOf(StateCorrupt);
  });

  test.each([
    ["random bytes", () => randomBytes(20_000)],
    ["text", () => Buffer.from("not a database, but somebody's notes\n".repeat(100))],
    ["a damaged header", async (path: string) => damageHeader(await readFile(path))],
  ])("a file of %s is not taken for a database, and the advice says how to go on", async (_, make) => {
    const path = await newPath();
    await makeDatabase(path);
    await writeFile(path, await make(path));
    const before = await readFile(path);
    const error = refusal(() => openStore(path));
    expect(error).toBeInstanceOf(StateCorrupt);
    expect(error.message).toContain(path);
    expect(error.advice).toContain(`mv ${path}`);
    expect(await readFile(path)).toEqual(before);
  });

  test("is made once when four processes open a fresh directory at the same moment", async () => {
    for (let round = 0; round < 3; round += 1) {
      const path = await newPath();
      const children = await Promise.all([1, 2, 3, 4].map(() => runChild("create", path)));
      expect(children.map(({ code, stderr }) => [code, stderr])).toEqual(children.map(() => [0, ""]));
      const store = openStore(path);
      const listed = (await store.reports.list(newestFirst)).map(({ id }) => id as string);
      expect(listed.sort()).toEqual(children.map(({ stdout }) => stdout).sort());
      await store.close();
    }
  });
});

function damageHeader(bytes: Buffer): Buffer {
  bytes.write("SQLite format 9", 0);
  return bytes;
}
