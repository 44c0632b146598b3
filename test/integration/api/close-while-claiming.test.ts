import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { LeaseHeld } from "../../../src/domain/errors.ts";
import { defineTeam, open, persona, phase } from "../../../src/index.ts";

test("a close does not wait for the watch of a silent driver, and its session is not taken", async () => {
  const folder = mkdtempSync(join(tmpdir(), "maestro-close-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const stateDir = join(folder, "state");
  const work = persona("worker", { run: async () => ({ summary: "done" }) });
  const team = defineTeam("workers", { phases: [phase("work", { personas: [work] })] });
  // The watch takes as long as a lease, which is longer than this test may take.
  const maestro = await open({ stateDir, teams: [team], leaseMs: 600_000, recover: true });
  const { id } = await maestro.create(team, { brief: "Work." });
  const database = new DatabaseSync(join(stateDir, "maestro.db"), { timeout: 20_000 });
  onTestFinished(() => database.close());
  database.exec("INSERT INTO owners VALUES ('elsewhere', 'm', 'another boot', 'n', 1, '1', 1, 0, 1)");
  database.exec("INSERT INTO leases SELECT number, 1, 'elsewhere' FROM sessions");
  const ended = maestro
    .resume(id)
    .then((session) => session.result())
    .catch((error: unknown) => error);
  await new Promise(setImmediate);
  await maestro.close();
  expect(await ended).toBeInstanceOf(LeaseHeld);
  expect(database.prepare("SELECT epoch, owner FROM leases").all()).toEqual([
    { epoch: 1, owner: "elsewhere" },
  ]);
});
