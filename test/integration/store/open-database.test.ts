import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { ensureSchema, growLog, openDatabase } from "../../../src/store/sqlite/open-database.ts";
import { temporaryDirectory } from "../../unit/workspace/temporary-directory.ts";

/** Writes for a moment that begins when this resolves, on a thread of its own: opening blocks the caller's. */
async function beginWriteElsewhere(path: string): Promise<void> {
  const program = `
    const { parentPort, workerData } = require("node:worker_threads");
    const { DatabaseSync } = require("node:sqlite");
    const database = new DatabaseSync(workerData);
    database.exec("BEGIN IMMEDIATE");
    parentPort.postMessage("writing");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 40);
    database.exec("ROLLBACK");
    database.close();
  `;
  const other = new Worker(program, { eval: true, workerData: path });
  const ended = new Promise((resolve) => other.once("exit", resolve));
  onTestFinished(async () => void (await ended));
  await new Promise((resolve) => other.once("message", resolve));
}

test("the log is preallocated while another thread writes", async () => {
  const path = join(temporaryDirectory(), "maestro.db");
  const database = openDatabase(path);
  ensureSchema(database, path);
  await beginWriteElsewhere(path);
  expect(() => database.exec("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE")).toThrow("locked");
  growLog(database, path);
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(4_000_000);
  expect(database.isTransaction).toBe(false);
  database.close();
});

test("processes that open a new state directory at the same moment wait for each other", async () => {
  const path = join(temporaryDirectory(), "maestro.db");
  const first = new DatabaseSync(path);
  // No longer empty, and not yet of the mode that others find when the first is done.
  first.exec("CREATE TABLE begun (at); DROP TABLE begun");
  first.close();
  await beginWriteElsewhere(path);
  const database = openDatabase(path);
  expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  database.close();
});
