import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/domain/clock.ts";
import { open } from "../../src/maestro.ts";
import { SqliteStore } from "../../src/state/sqlite/sqlite-store.ts";
import { newSession, readAll, step } from "./store-under-test.ts";

async function newPath(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "maestro-listing-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return join(directory, "maestro.db");
}

const openStore = (path: string) => new SqliteStore({ path, clock: systemClock, leaseMs: 15_000 });

test("sessions from before there were cards are listed, searched and driven like any other", async () => {
  const path = await newPath();
  const before = openStore(path);
  const given = newSession({ key: "old-one" });
  await before.createSession({ ...given, created: { ...given.created, brief: "Parking of yesteryear" } });
  const { lease } = await before.claimSession(given.id, "start");
  await before.append(lease, [step(1), { kind: "session.status", status: "parked", reason: "help" }]);
  await before.releaseSession(lease);
  await before.close();
  // As the version before left it.
  const database = new DatabaseSync(path);
  database.exec(`DROP TABLE session_cards; DROP TABLE session_texts; DROP INDEX sessions_by_status_at;
    DROP INDEX sessions_by_wake; ALTER TABLE sessions DROP COLUMN status_at;
    ALTER TABLE usage DROP COLUMN unreported_calls; PRAGMA user_version = 3`);
  database.close();

  const maestro = await open({ stateDir: join(path, "..") });
  const [found] = await maestro.list({ order: "created", limit: 10, text: "yesteryear" });
  expect(found).toMatchObject({
    id: given.id,
    status: "parked",
    card: { brief: "Parking of yesteryear", checkpoints: 0 },
  });
  expect(found?.statusAt).toBe(found?.updatedAt);
  await maestro.close();
  const after = openStore(path);
  const { lease: next } = await after.claimSession(given.id, "resume");
  await after.append(next, [{ kind: "session.status", status: "canceled" }]);
  await after.releaseSession(next);
  const [listed] = await after.listing.find([given.id]);
  expect(listed).toMatchObject({ status: "canceled", card: undefined });
  await after.close();
});

test("a card that cannot be kept never keeps a row from being recorded", async () => {
  const path = await newPath();
  const store = openStore(path);
  const { session } = await store.createSession(newSession());
  const database = new DatabaseSync(path);
  database.exec("UPDATE session_cards SET card = '{ no JSON'");
  database.close();
  expect(await store.listing.find([session.id])).toMatchObject([{ status: "queued", card: undefined }]);
  const { lease } = await store.claimSession(session.id, "start");
  await store.append(lease, [step(1), { kind: "session.status", status: "paused" }]);
  expect((await readAll(store, session.id)).map(({ kind }) => kind)).toEqual([
    "session.created",
    "session.claimed",
    "step.function",
    "session.status",
  ]);
  expect(await store.listing.find([session.id])).toMatchObject([{ status: "paused", card: undefined }]);
  await store.close();
});

test("a state directory of the version before keeps cards of the sessions that are new", async () => {
  const path = await newPath();
  const migrations = new URL("../../src/state/sqlite/migrations/", import.meta.url);
  const old = new DatabaseSync(path);
  for (const file of ["001_foundation.sql", "002_execution.sql", "003_ledger.sql"])
    old.exec(await readFile(new URL(file, migrations), "utf8"));
  old.exec("PRAGMA user_version = 3");
  old.close();
  const store = openStore(path);
  const { session } = await store.createSession(newSession({ key: "k" }));
  expect(await store.listing.page({ order: "created", limit: 5, text: "k" })).toMatchObject([
    { id: session.id, card: { brief: "brief" } },
  ]);
  await store.close();
});
