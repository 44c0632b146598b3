import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/domain/clock.ts";
import { LeaseHeld } from "../../src/domain/errors.ts";
import { armFault } from "../../src/store/fault-points.ts";
import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { createAndClaim, step } from "./store-under-test.ts";

const leaseMs = 1_000;

test("a writer thread that dies is replaced by one that goes on telling that its process lives", async () => {
  const directory = await mkdtemp(join(tmpdir(), "maestro-leases-"));
  const open = () => new SqliteStore({ path: join(directory, "maestro.db"), clock: systemClock, leaseMs });
  armFault({ point: "phase.started:after-commit", hit: 1, act: "throw" });
  const [store, other] = [open(), open()];
  onTestFinished(async () => {
    armFault(undefined);
    await store.close();
    await other.close();
    await rm(directory, { recursive: true });
  });
  const { id, lease } = await createAndClaim(store);
  await untilItBeats(directory);
  await expect(store.append(lease, [{ kind: "phase.started", phase: "p" }])).rejects.toThrow(
    /thread stopped/,
  );
  armFault(undefined);
  await store.append(lease, [step(1)]);
  await setTimeout(3 * leaseMs);
  await expect(other.claimSession(id, "recovery")).rejects.toThrow(LeaseHeld);
  await store.append(lease, [step(2)]);
});

/** Only the thread tells that its process lives. */
async function untilItBeats(directory: string): Promise<void> {
  const database = new DatabaseSync(join(directory, "maestro.db"), { readOnly: true });
  const beats = () => database.prepare("SELECT beat_uptime_ms FROM owners").get()?.["beat_uptime_ms"];
  const first = beats();
  await vi.waitUntil(() => beats() !== first, { timeout: 60_000 });
  database.close();
}
