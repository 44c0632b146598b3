import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/domain/clock.ts";
import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { newSession, readAll, step } from "./store-under-test.ts";

async function newPath(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "maestro-listing-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return join(directory, "maestro.db");
}

const openStore = (path: string) => new SqliteStore({ path, clock: systemClock, leaseMs: 15_000 });

test("a card that cannot be stored does not prevent a row from being recorded", async () => {
  const path = await newPath();
  const store = openStore(path);
  const { session } = await store.createSession(newSession());
  const database = new DatabaseSync(path);
  database.exec("UPDATE session_cards SET card = '{ no JSON'");
  database.close();
  expect(await store.reports.listed([session.id])).toMatchObject([{ status: "queued", card: undefined }]);
  const { lease } = await store.claimSession(session.id, "start");
  await store.append(lease, [step(1), { kind: "session.status", status: "paused", by: "person" }]);
  expect((await readAll(store, session.id)).map(({ kind }) => kind)).toEqual([
    "session.created",
    "session.claimed",
    "step.function",
    "session.status",
  ]);
  expect(await store.reports.listed([session.id])).toMatchObject([{ status: "paused", card: undefined }]);
  await store.close();
});
