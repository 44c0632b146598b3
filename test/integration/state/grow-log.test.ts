import { statSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { growLog, migrate, openDatabase } from "../../../src/state/sqlite/open-database.ts";
import { temporaryDirectory } from "../../unit/workspace/temporary-directory.ts";

/** A thread that writes, as the caller's does while the writer's is starting. */
const writes = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(workerData);
  database.exec("BEGIN IMMEDIATE");
  parentPort.postMessage("writing");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  database.exec("ROLLBACK");
`;

test("the log gets its length although another thread is just writing", async () => {
  const path = join(temporaryDirectory(), "maestro.db");
  const database = openDatabase(path);
  migrate(database, path);
  const other = new Worker(writes, { eval: true, workerData: path });
  const ended = Promise.withResolvers<void>();
  other.once("exit", () => ended.resolve());
  await new Promise((resolve) => other.once("message", resolve));
  expect(() => database.exec("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE")).toThrow("locked");
  growLog(database, path);
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(4_000_000);
  expect(database.isTransaction).toBe(false);
  await ended.promise;
  database.close();
});
