import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/domain/clock.ts";
import { LeaseHeld, StorageFailed } from "../../src/domain/errors.ts";
import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { createAndClaim, readAll, step } from "./store-under-test.ts";

const leaseMs = 1_500;

/** A store whose writer thread can be killed as the system would do it, and another connection to its database. */
async function storeWithThread() {
  const directory = mkdtempSync(join(tmpdir(), "maestro-thread-"));
  const path = join(directory, "maestro.db");
  const threads: Worker[] = [];
  const hear = (worker: Worker) => void threads.push(worker);
  process.on("worker", hear);
  const store = new SqliteStore({ path, clock: systemClock, leaseMs });
  const database = new DatabaseSync(path, { timeout: 20_000 });
  onTestFinished(async () => {
    process.off("worker", hear);
    database.close();
    await store.close();
    rmSync(directory, { recursive: true });
  });
  const { id, lease } = await createAndClaim(store);
  const beat = () => database.prepare("SELECT beats AS at FROM owners").get()?.["at"];
  const untilItBeats = async () => {
    const before = beat();
    await vi.waitUntil(() => beat() !== before, { timeout: 60_000 });
  };
  // Only the thread sends beats.
  await untilItBeats();
  return { path, store, database, id, lease, threads, untilItBeats };
}

test("a killed writer thread is replaced at once, and beats continue although no command follows", async () => {
  const { store, id, path, threads, untilItBeats, lease } = await storeWithThread();
  await threads[0]?.terminate();
  await untilItBeats();
  await untilItBeats();
  expect(threads).toHaveLength(2);
  const other = new SqliteStore({ path, clock: systemClock, leaseMs });
  onTestFinished(() => other.close());
  await expect(other.claimSession(id, "recovery")).rejects.toThrow(LeaseHeld);
  await store.append(lease, [step(1)]);
});

test("commands that a killed writer thread had are rejected, and the next ones are committed", async () => {
  const { store, database, id, lease, threads, untilItBeats } = await storeWithThread();
  const before = (await readAll(store, id)).length;
  // The thread has the commands and cannot commit them.
  database.exec("BEGIN IMMEDIATE");
  const rejected = Promise.allSettled([1, 2, 3].map((number) => store.append(lease, [step(number)])));
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  await threads[0]?.terminate();
  for (const end of await rejected)
    expect(end).toMatchObject({
      status: "rejected",
      reason: expect.any(StorageFailed),
    });
  database.exec("ROLLBACK");
  await untilItBeats();
  await store.append(lease, [step(4)]);
  expect(await readAll(store, id)).toHaveLength(before + 1);
});

test("a close while the writer thread is being killed ends", async () => {
  const { store, threads } = await storeWithThread();
  const killed = threads[0]?.terminate();
  await store.close();
  await killed;
  expect(threads).toHaveLength(1);
});
