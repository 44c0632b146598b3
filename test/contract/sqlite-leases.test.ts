import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/domain/clock.ts";
import { LeaseHeld } from "../../src/domain/errors.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import { armFault } from "../../src/store/fault-points.ts";
import type { Claim } from "../../src/store/journal.ts";
import { thisOwner } from "../../src/store/owner.ts";
import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { runChild } from "./sqlite-child.ts";
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
  leaseMs: ownLeaseMs = leaseMs,
}: {
  readonly machine?: string;
  readonly boot: string;
  readonly beatAt: number;
  readonly leaseMs?: number;
}) {
  const directory = await mkdtemp(join(tmpdir(), "maestro-leases-"));
  const path = join(directory, "maestro.db");
  const store = new SqliteStore({ path, clock: systemClock, leaseMs: ownLeaseMs });
  const { session } = await store.createSession(newSession());
  const database = new DatabaseSync(path, { timeout: 20_000 });
  onTestFinished(async () => {
    database.close();
    await store.close();
    await rm(directory, { recursive: true });
  });
  database
    .prepare("INSERT INTO owners VALUES ('elsewhere', ?, ?, 'another namespace', 1, '1', 1, 0, ?)")
    .run(machine, boot, beatAt);
  database.exec("INSERT INTO leases SELECT number, 1, 'elsewhere' FROM sessions");
  const beat = () => database.exec("UPDATE owners SET beats = beats + 1");
  const leases = () => database.prepare("SELECT epoch, owner FROM leases").all();
  return { store, id: session.id, beat, leases };
}

test("an owner whose clock is an hour behind is not listed as gone while its beat is seen to move", async () => {
  const { store, id, beat } = await heldElsewhere({ boot: "another boot", beatAt: Date.now() - hourMs });
  expect(await store.reports.abandoned(), "by its recorded time").toEqual([id]);
  beat();
  expect(await store.reports.abandoned()).toEqual([]);
  await expect(store.claimSession(id, "recovery")).rejects.toThrow(LeaseHeld);
  await vi.waitUntil(async () => (await store.reports.abandoned()).includes(id), { timeout: 60_000 });
  beat();
  expect(await store.reports.abandoned()).toEqual([]);
});

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

test("a session of a driver that is silent and lives is not deleted", async () => {
  const { store, id, beat } = await heldElsewhere({ boot: "another boot", beatAt: Date.now() - hourMs });
  const beats = setInterval(beat, leaseMs / 3);
  onTestFinished(() => clearInterval(beats));
  await expect(store.deleteSession(id)).rejects.toThrow(LeaseHeld);
  expect(await store.findSession(id)).toMatchObject({ id });
});

test("a session of a driver that stays silent is deleted", async () => {
  const { store, id } = await heldElsewhere({ boot: "another boot", beatAt: Date.now() - hourMs });
  await store.deleteSession(id);
  expect(await store.findSession(id)).toBeUndefined();
});

test("closing ends the watch of a silent driver at once, and takes nothing", async () => {
  const { store, id, leases } = await heldElsewhere({
    boot: "another boot",
    beatAt: Date.now() - hourMs,
    leaseMs: 10 * 60_000,
  });
  // The test's time limit is half the time of the watch.
  const refused = Promise.allSettled([store.claimSession(id, "recovery"), store.deleteSession(id)]);
  await new Promise(setImmediate);
  await store.close();
  for (const end of await refused)
    expect(end).toMatchObject({ status: "rejected", reason: expect.any(LeaseHeld) });
  expect(leases()).toEqual([{ epoch: 1, owner: "elsewhere" }]);
});

test("the next suspect is recovered after one whose release could not be written", async () => {
  const directory = await mkdtemp(join(tmpdir(), "maestro-leases-"));
  const path = join(directory, "maestro.db");
  const store = new SqliteStore({ path, clock: systemClock, leaseMs });
  const database = new DatabaseSync(path, { timeout: 20_000 });
  onTestFinished(async () => {
    database.close();
    await store.close();
    await rm(directory, { recursive: true });
  });
  const ids: SessionId[] = [];
  for (let number = 0; number < 2; number += 1) {
    const { session } = await store.createSession(newSession());
    await runChild("claim-and-die", path, session.id);
    ids.push(session.id);
  }
  const claims: Promise<Claim>[] = [];
  const take = () => store.take(2, async () => (claim) => void claims.push(claim));
  expect(await take()).toBe(1);
  const { lease } = (await claims[0]) as Claim;
  database.exec(
    `CREATE TRIGGER full BEFORE UPDATE ON leases WHEN NEW.owner IS NULL BEGIN SELECT RAISE(ABORT, 'full'); END`,
  );
  await expect(store.releaseSession(lease)).rejects.toThrow(/full/);
  expect(await take()).toBe(1);
  expect((await Promise.all(claims)).map(({ lease: { sessionId } }) => sessionId)).toEqual(ids);
});

/** Only the thread sends beats. */
async function untilItBeats(directory: string): Promise<void> {
  const database = new DatabaseSync(join(directory, "maestro.db"), { readOnly: true });
  const beats = () => database.prepare("SELECT beats FROM owners").get()?.["beats"];
  const first = beats();
  await vi.waitUntil(() => beats() !== first, { timeout: 60_000 });
  database.close();
}
