import { describe, expect, test } from "vitest";
import type { SessionId } from "../../src/domain/ids.ts";
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

async function queued(store: Store, wakeAt: number): Promise<SessionId> {
  const { session } = await store.createSession({ ...newSession(), wakeAt });
  return session.id;
}

async function takeAll(
  store: Store,
  places: number,
  accepts: (id: SessionId) => boolean | Promise<boolean> = () => true,
) {
  const drives = new Map<SessionId, boolean>();
  const pending: [SessionId, Promise<Claim>][] = [];
  const count = await store.take(places, async ({ session: { id }, isToDrive }) => {
    drives.set(id, isToDrive);
    if (!(await accepts(id))) return undefined;
    return (claim) => void pending.push([id, claim]);
  });
  const settled = await Promise.allSettled(pending.map(([, claim]) => claim));
  const claims = new Map<SessionId, Claim>();
  for (const [at, outcome] of settled.entries())
    if (outcome.status === "fulfilled") claims.set((pending[at] as [SessionId, unknown])[0], outcome.value);
  return { claims, drives, count };
}
