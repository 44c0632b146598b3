import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import {
  allCalls,
  alwaysNoon,
  amount,
  expectTotalsAddUp,
  granted,
  limit,
  request,
  settle,
  took,
  totalsAt,
} from "./ledger-support.ts";
import { runChild } from "./sqlite-child.ts";
import { createAndClaim, newestFirst, newSession } from "./store-under-test.ts";

const slow = { timeout: 60_000 };

async function openHere(): Promise<{ path: string; store: SqliteStore }> {
  const directory = await mkdtemp(join(tmpdir(), "maestro-ledger-"));
  const path = join(directory, "maestro.db");
  const store = new SqliteStore({ path, clock: alwaysNoon, leaseMs: 15_000 });
  onTestFinished(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });
  return { path, store };
}

const fourTimes = <T>(start: () => Promise<T>): Promise<T[]> =>
  Promise.all([start(), start(), start(), start()]);

test("four processes that ask for 64 calls at once get the 32 that the day allows", slow, async () => {
  const { path, store } = await openHere();
  const children = await fourTimes(() => runChild("reserve-at-once", path, String(32 * 100)));
  expect(children.map(({ code, stderr }) => [code, stderr])).toEqual(children.map(() => [0, ""]));
  expect(children.reduce((sum, { stdout }) => sum + Number(stdout), 0)).toBe(32);
  const ids = (await store.reports.list(newestFirst)).map(({ id }) => id);
  expect(ids).toHaveLength(4);
  await expectTotalsAddUp(store, ids);
});

test(
  "four processes that spend as fast as they can stop at the day's limit, and none hangs",
  slow,
  async () => {
    const { path, store } = await openHere();
    const dayTokens = 20_000;
    const children = await fourTimes(() => runChild("spend-the-day", path, String(dayTokens)));
    expect(children.map(({ code, stderr }) => [code, stderr])).toEqual(children.map(() => [0, ""]));
    const calls = children.reduce((sum, { stdout }) => sum + Number(stdout), 0);
    const ids = (await store.reports.list(newestFirst)).map(({ id }) => id);
    const { used, reserved } = await totalsAt(store, ids[0] as never, "day");
    expect(used.tokens).toBe(calls * 61);
    expect(used.tokens).toBeLessThanOrEqual(dayTokens);
    expect(used.tokens + 100, "one more does not fit").toBeGreaterThan(dayTokens);
    expect(reserved).toEqual(amount(0));
    await expectTotalsAddUp(store, ids);
  },
);

test(
  "a process killed between its reservation and its answer leaves exactly one estimated call",
  slow,
  async () => {
    const { path, store } = await openHere();
    const { session } = await store.createSession(newSession());
    const child = await runChild("reserve-and-die", path, session.id);
    expect(child.signal).toBe("SIGKILL");
    expect(await allCalls(store, session.id)).toMatchObject([{ status: "open" }]);
    for (let claims = 0; claims < 2; claims += 1) {
      const { lease } = await store.claimSession(session.id, "recovery");
      const [lost, ...others] = await allCalls(store, session.id);
      expect(lost).toMatchObject({ status: "estimated", epoch: 1, step: null, usage: null });
      expect(others).toEqual([]);
      await store.releaseSession(lease);
    }
    await expectTotalsAddUp(store, [session.id]);
  },
);

test(
  "a killed process does not block the day's budget, also when its session is never resumed",
  slow,
  async () => {
    const { path, store } = await openHere();
    const { session } = await store.createSession(newSession());
    await runChild("reserve-and-die", path, session.id);
    const { lease } = await createAndClaim(store);
    const limits = [limit("day", { tokens: 150 })];
    expect(await store.reserve(lease, request({ limits }))).toMatchObject({
      kind: "exceeded",
      used: 100,
    });
    expect(await store.reserve(lease, request({ asked: amount(50), limits }))).toMatchObject({
      kind: "granted",
    });
    expect(await allCalls(store, session.id)).toMatchObject([{ status: "estimated" }]);
  },
);

test(
  "a driver that was only slow replaces the estimate of its call with the reported usage",
  slow,
  async () => {
    const { path, store } = await openHere();
    const slowOne = await createAndClaim(store);
    const limits = [limit("day", { tokens: 150 })];
    const reservation = await granted(store, slowOne.lease, { limits });
    // To this one every driver has been silent for too long.
    const impatient = new SqliteStore({ path, clock: alwaysNoon, leaseMs: -1 });
    const { lease } = await createAndClaim(impatient);
    expect(await impatient.reserve(lease, request({ limits }))).toMatchObject({ kind: "exceeded" });
    expect(await allCalls(store, slowOne.id)).toMatchObject([{ status: "estimated" }]);
    await settle(store, slowOne.lease, reservation, took(10));
    expect(await allCalls(store, slowOne.id)).toMatchObject([{ status: "settled", costMicroUsd: 20 }]);
    await expectTotalsAddUp(store, [slowOne.id]);
    expect(await impatient.reserve(lease, request({ limits }))).toMatchObject({ kind: "granted" });
    await impatient.close();
  },
);
