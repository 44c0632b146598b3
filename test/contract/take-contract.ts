import { describe, expect, test } from "vitest";
import type { SessionId } from "../../src/domain/ids.ts";
import type { SessionLimits } from "../../src/store/decisions/limits.ts";
import type { Claim } from "../../src/store/journal.ts";
import type { Store } from "../../src/store/store.ts";
import {
  createAndClaim,
  newSession,
  type OpenStore,
  openFor,
  readAll,
  step,
  takeable,
} from "./store-under-test.ts";

export function takeContract(open: OpenStore): void {
  describe("take", () => {
    test("gives abandoned sessions first, then those that have waited longest", async () => {
      const { store, clock } = await openFor(open);
      const late = await queued(store, clock.now() - 1);
      const early = await queued(store, clock.now() - 1_000);
      const future = await queued(store, clock.now() + 1_000);
      const { id: left, lease } = await createAndClaim(store);
      await createAndClaim(store);
      await store.releaseSession(lease);
      expect(await takeable(store)).toEqual([left, early, late]);
      await clock.advance(1_000);
      expect(await takeable(store)).toEqual([left, early, late, future]);
    });

    test("claims no more than there are places, each with the next epoch and a row that says why", async () => {
      const { store, clock } = await openFor(open);
      const ids = [1, 2, 3].map((waited) => queued(store, clock.now() - 10 + waited));
      const [first, second, third] = await Promise.all(ids);
      const { claims, count } = await takeAll(store, 2);
      expect(count).toBe(2);
      expect([...claims.keys()]).toEqual([first, second]);
      for (const [id, { lease, row, found }] of claims) {
        expect([lease.epoch, found]).toEqual([1, "free"]);
        expect(JSON.parse(row.body)).toMatchObject({ cause: "start" });
        expect((await readAll(store, id)).at(-1)).toEqual(row);
        await store.append(lease, [step(1)]);
      }
      expect(await takeable(store)).toEqual([third]);
    });

    test("leaves a session that the process does not accept, and uses its place for the next", async () => {
      const { store, clock } = await openFor(open);
      const [refused, accepted] = [
        await queued(store, clock.now() - 2),
        await queued(store, clock.now() - 1),
      ];
      const { claims } = await takeAll(store, 1, (id) => id !== refused);
      expect([...claims.keys()]).toEqual([accepted]);
      expect(await readAll(store, refused)).toHaveLength(1);
    });

    test("gives a session to one of the processes that take at the same moment", async () => {
      const { store, another, clock } = await openFor(open);
      const other = (await another?.()) ?? store;
      const id = await queued(store, clock.now());
      const taken = await Promise.all([store, other, store, other].map((taker) => takeAll(taker, 1)));
      expect(taken.filter(({ claims }) => claims.has(id))).toHaveLength(1);
      expect(await readAll(store, id)).toHaveLength(2);
    });

    test("does not claim a session whose status has changed since it was considered", async () => {
      const { store, clock } = await openFor(open);
      const id = await queued(store, clock.now());
      const { claims } = await takeAll(store, 1, async () => {
        const { lease } = await store.claimSession(id, "start");
        await store.append(lease, [{ kind: "session.status", status: "completed" }]);
        await store.releaseSession(lease);
        return true;
      });
      expect(claims.size).toBe(0);
      expect((await store.findSession(id))?.status).toBe("completed");
    });

    test("only finishes a session whose driver died after it had ended", async (context) => {
      const { store, claimAndDie } = await openFor(open);
      if (claimAndDie === undefined) return context.skip("no other process can reach this store");
      const { id, lease } = await createAndClaim(store);
      await store.append(lease, [{ kind: "session.status", status: "canceled" }]);
      await store.releaseSession(lease);
      await claimAndDie(id);
      const { claims, drives } = await takeAll(store, 1);
      expect(drives.get(id)).toBe(false);
      expect(JSON.parse(claims.get(id)?.row.body ?? "{}")).toMatchObject({ cause: "signal" });
      expect((await store.findSession(id))?.status).toBe("canceled");
    });

    test("gives higher priorities first, then teams with fewer running sessions, then those that waited longest", async () => {
      const { store, clock } = await openFor(open);
      const add = (team: string, waitedMs: number, priority = 0) =>
        queued(store, clock.now() - waitedMs, { team, priority });
      const { session } = await store.createSession(newSession({ team: "busy" }));
      await store.claimSession(session.id, "start");
      const longest = await add("busy", 9);
      const [first, second, third] = [await add("calm", 7), await add("calm", 6), await add("calm", 5)];
      const urgent = await add("busy", 1, 3);
      const low = await add("calm", 100, -1);
      // Each session that is taken counts for its team: after two of the calm team, the busy one has fewer.
      const { claims } = await takeAll(store, 6);
      expect([...claims.keys()]).toEqual([urgent, first, second, longest, third, low]);
    });

    test("keeps limits of teams, models and queues, and skips only the sessions that they are about", async () => {
      const { store, clock } = await openFor(open);
      const add = (team: string, terms: Partial<Parameters<typeof newSession>[1]> = {}) =>
        queued(store, clock.now(), { team, ...terms });
      const team = [await add("one"), await add("one"), await add("one")];
      const model = [await add("two", { model: "m" }), await add("three", { model: "m" })];
      const queue = [await add("four", { queue: "night" }), await add("five", { queue: "night" })];
      const free = await add("six");
      const limits = { teams: { one: 2 }, models: { m: 1 }, queues: { night: 0 } };
      const first = await takeAll(store, 10, undefined, limits);
      expect(new Set(first.claims.keys())).toEqual(new Set([team[0], team[1], model[0], free]));
      expect((await takeAll(store, 10, undefined, limits)).count).toBe(0);
      const { lease } = first.claims.get(model[0] as SessionId) as Claim;
      await store.append(lease, [{ kind: "session.status", status: "completed" }]);
      await store.releaseSession(lease);
      expect([...(await takeAll(store, 10, undefined, limits)).claims.keys()]).toEqual([model[1]]);
      expect(new Set((await takeAll(store, 10)).claims.keys())).toEqual(new Set([team[2], ...queue]));
    });

    test("counts a limit in the transaction that claims, so processes together keep it", async () => {
      const { store, another, clock } = await openFor(open);
      const other = (await another?.()) ?? store;
      const ids: SessionId[] = [];
      for (let number = 0; number < 12; number += 1)
        ids.push(await queued(store, clock.now(), { queue: "night" }));
      const limits = { queues: { night: 5 } };
      // Each sees five free places, and takes sessions that the others leave alone.
      const taken = await Promise.all(
        [store, other].map((taker, at) => takeAll(taker, 12, (id) => ids.indexOf(id) % 2 === at, limits)),
      );
      expect(taken.reduce((sum, { claims }) => sum + claims.size, 0)).toBe(5);
    });

    test("does not count a session that waits without a driver, and takes it when its wait is over", async () => {
      const { store, clock } = await openFor(open);
      const limits = { teams: { team: 1 } };
      const { id, lease } = await createAndClaim(store);
      const next = await queued(store, clock.now());
      expect((await takeAll(store, 1, undefined, limits)).count).toBe(0);
      await store.append(lease, [{ kind: "session.status", status: "running", wakeAt: clock.now() + 1_000 }]);
      await store.releaseSession(lease);
      expect(await store.reports.abandoned()).toEqual([]);
      const { claims } = await takeAll(store, 2, undefined, limits);
      expect([...claims.keys()]).toEqual([next]);
      await store.releaseSession((claims.get(next) as Claim).lease);
      await store.deleteSession(next);
      expect(await takeable(store)).toEqual([]);
      await clock.advance(1_000);
      const woken = await takeAll(store, 2, undefined, limits);
      expect(JSON.parse(woken.claims.get(id)?.row.body ?? "{}")).toMatchObject({ cause: "wake" });
    });

    test("keeps why a process does not take a session, until it is taken", async () => {
      const { store, clock } = await openFor(open);
      const id = await queued(store, clock.now());
      const blocked = { name: "TeamChanged", code: "TEAM_CHANGED", message: "the team has changed" };
      await store.take(1, async () => ({ blocked }));
      expect((await store.findSession(id))?.blocked).toEqual(blocked);
      expect((await store.reports.listed([id]))[0]?.blocked).toEqual(blocked);
      expect(await readAll(store, id), "its journal has no row about it").toHaveLength(1);
      await takeAll(store, 1);
      expect((await store.findSession(id))?.blocked).toBeUndefined();
    });

    test("recovers sessions whose driver died one at a time, each when the one before has recorded a step", async (context) => {
      const { store, clock, claimAndDie } = await openFor(open);
      if (claimAndDie === undefined) return context.skip("no other process can reach this store");
      const ids: SessionId[] = [];
      for (let number = 0; number < 3; number += 1) {
        const { session } = await store.createSession(newSession());
        await claimAndDie(session.id);
        ids.push(session.id);
      }
      const [first, second, third] = ids as [SessionId, SessionId, SessionId];
      const one = await takeAll(store, 3);
      expect([...one.claims.keys()]).toEqual([first]);
      expect((await takeAll(store, 3)).count, "the first has recorded nothing").toBe(0);
      await clock.advance(24 * 3_600_000);
      expect((await takeAll(store, 3)).count, "its call takes a day").toBe(0);
      const fresh = await queued(store, clock.now());
      expect([...(await takeAll(store, 3)).claims.keys()], "no suspect").toEqual([fresh]);
      await store.append((one.claims.get(first) as Claim).lease, [step(1)]);
      const two = await takeAll(store, 3);
      expect([...two.claims.keys()]).toEqual([second]);
      await store.releaseSession((two.claims.get(second) as Claim).lease);
      // The second was released and is no longer a suspect. It has been recovered before, so it comes after the third.
      expect([...(await takeAll(store, 3)).claims.keys()]).toEqual([third, second]);
    });

    test("takes a session over from a dead driver as its recovery", async (context) => {
      const { store, claimAndDie } = await openFor(open);
      if (claimAndDie === undefined) return context.skip("no other process can reach this store");
      const { session } = await store.createSession(newSession());
      await claimAndDie(session.id);
      const { claims, drives } = await takeAll(store, 1);
      expect(drives.get(session.id)).toBe(true);
      expect(claims.get(session.id)).toMatchObject({ found: "dead", lease: { epoch: 2 } });
      expect(JSON.parse(claims.get(session.id)?.row.body ?? "{}")).toMatchObject({ cause: "recovery" });
    });
  });
}

async function queued(
  store: Store,
  wakeAt: number,
  { team = "team", ...terms }: { readonly team?: string } & Parameters<typeof newSession>[1] = {},
): Promise<SessionId> {
  const { session } = await store.createSession({ ...newSession({ team }, terms), wakeAt });
  return session.id;
}

async function takeAll(
  store: Store,
  places: number,
  accepts: (id: SessionId) => boolean | Promise<boolean> = () => true,
  limits: SessionLimits = {},
) {
  const drives = new Map<SessionId, boolean>();
  const pending: [SessionId, Promise<Claim>][] = [];
  const count = await store.take(
    places,
    async ({ session: { id }, isToDrive }) => {
      drives.set(id, isToDrive);
      if (!(await accepts(id))) return undefined;
      return (claim) => void pending.push([id, claim]);
    },
    limits,
  );
  const settled = await Promise.allSettled(pending.map(([, claim]) => claim));
  const claims = new Map<SessionId, Claim>();
  for (const [at, outcome] of settled.entries())
    if (outcome.status === "fulfilled") claims.set((pending[at] as [SessionId, unknown])[0], outcome.value);
  return { claims, drives, count };
}
