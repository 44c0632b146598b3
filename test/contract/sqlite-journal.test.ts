import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/domain/clock.ts";
import { JournalCorrupt } from "../../src/domain/errors.ts";
import { encodeEntry } from "../../src/journal/journal-codec.ts";
import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { newSession, readAll, step, steps } from "./store-under-test.ts";

/** A session of a claim, a copied row before a gap and some steps, whose database a stranger then changes. */
async function damaged(sql: string) {
  const directory = await mkdtemp(join(tmpdir(), "maestro-journal-"));
  const path = join(directory, "maestro.db");
  const store = new SqliteStore({ path, clock: systemClock, leaseMs: 15_000 });
  onTestFinished(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });
  const given = newSession();
  const copied = [5, 20].map((seq) => ({
    ...encodeEntry({ kind: "phase.started", phase: "design" }),
    seq,
    epoch: 1,
    at: 1_000,
  }));
  await store.createSession({ ...given, copied });
  const { lease } = await store.claimSession(given.id, "start");
  await store.append(lease, [...steps(5), { kind: "phase.completed", phase: "design" }, step(9)]);
  // The writer thread beats on its own connection, and may hold the lock for a moment.
  const stranger = new DatabaseSync(path, { timeout: 5_000 });
  stranger.exec(sql);
  stranger.close();
  return {
    whole: readAll(store, given.id),
    transitions: (async () => {
      for await (const page of store.readTransitions(given.id)) void page;
    })(),
  };
}

test.each([
  ["a copied row before a gap", "DELETE FROM journal WHERE seq = 5", 20],
  ["a step", "DELETE FROM journal WHERE seq = 23", 24],
])("%s that is removed breaks the chain at the next row", async (_, sql, seq) => {
  const { whole, transitions } = await damaged(sql);
  await transitions.catch(() => undefined);
  await expect(whole).rejects.toMatchObject({ name: "JournalCorrupt", details: { seq } });
});

test.each([
  ["changed", `UPDATE journal SET body = '{"phase":"build"}' WHERE kind = 'phase.completed'`],
  ["removed", "DELETE FROM journal WHERE kind = 'phase.completed'"],
])("a transition that is %s is refused also when it is read without the steps", async (_, sql) => {
  const { whole, transitions } = await damaged(sql);
  await expect(whole).rejects.toThrow(JournalCorrupt);
  await expect(transitions).rejects.toThrow(JournalCorrupt);
});
