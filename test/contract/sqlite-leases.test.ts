import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/domain/clock.ts";
import { LeaseHeld } from "../../src/domain/errors.ts";
import { armFault } from "../../src/store/fault-points.ts";
import { thisOwner } from "../../src/store/owner.ts";
import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { createAndClaim, newSession, step } from "./store-under-test.ts";

const leaseMs = 1_000;

test("a writer thread that dies is replaced by one that keeps sending beats", async () => {
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

const hourMs = 3_600_000;

/** A session whose lease another owner holds; `beat` is what that owner does to prove that it lives. */
async function heldElsewhere({
  machine = "another machine",
  boot,
  beatAt,
}: {
  readonly machine?: string;
  readonly boot: string;
  readonly beatAt: number;
}) {
  const directory = await mkdtemp(join(tmpdir(), "maestro-leases-"));
  const path = join(directory, "maestro.db");
  const store = new SqliteStore({ path, clock: systemClock, leaseMs });
  const { session } = await store.createSession(newSession());
  const database = new DatabaseSync(path, { timeout: 20_000 });
  onTestFinished(async () => {
    database.close();
    await store.close();
    await rm(directory, { recursive: true });
  });
  database
    .prepare("INSERT INTO owners VALUES ('elsewhere', ?, ?, 'another namespace', 1, '1', 0, ?)")
    .run(machine, boot, beatAt);
  database.exec("INSERT INTO leases SELECT number, 1, 'elsewhere' FROM sessions");
  const beat = () => database.exec("UPDATE owners SET beat_uptime_ms = beat_uptime_ms + 1");
  return { store, id: session.id, beat };
}

test.each([-hourMs, hourMs])(
  "a live driver on a machine whose clock differs by %i ms keeps its lease",
  async (skewMs) => {
    const { store, id, beat } = await heldElsewhere({ boot: "another boot", beatAt: Date.now() + skewMs });
    const beats = setInterval(beat, leaseMs / 3);
    onTestFinished(() => clearInterval(beats));
    await expect(store.claimSession(id, "recovery")).rejects.toThrow(LeaseHeld);
  },
);

test("a driver that was suspended for longer than its lease keeps it by its next beat", async () => {
  const { store, id, beat } = await heldElsewhere({ boot: thisOwner().boot, beatAt: Date.now() });
  const claim = store.claimSession(id, "recovery");
  await setTimeout(leaseMs / 4);
  beat();
  await expect(claim).rejects.toThrow(LeaseHeld);
});

test.skipIf(thisOwner().machine === "")(
  "the lease of an earlier boot of this machine is taken without a watch",
  async () => {
    const { machine } = thisOwner();
    const { store, id } = await heldElsewhere({ machine, boot: "earlier", beatAt: Date.now() - hourMs });
    const watches = vi.spyOn(globalThis, "setTimeout");
    expect((await store.claimSession(id, "recovery")).lease.epoch).toBe(2);
    expect(watches.mock.calls.filter(([, ms]) => ms === leaseMs)).toEqual([]);
    watches.mockRestore();
  },
);

test("the lease of another machine is taken after it was watched for the time of a lease", async () => {
  const { store, id } = await heldElsewhere({ boot: "another boot", beatAt: Date.now() - hourMs });
  const began = performance.now();
  const { lease } = await store.claimSession(id, "recovery");
  expect(lease.epoch).toBe(2);
  expect(performance.now() - began).toBeGreaterThan(leaseMs - 1);
});

/** Only the thread sends beats. */
async function untilItBeats(directory: string): Promise<void> {
  const database = new DatabaseSync(join(directory, "maestro.db"), { readOnly: true });
  const beats = () => database.prepare("SELECT beat_uptime_ms FROM owners").get()?.["beat_uptime_ms"];
  const first = beats();
  await vi.waitUntil(() => beats() !== first, { timeout: 60_000 });
  database.close();
}
