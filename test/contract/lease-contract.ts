import { describe, expect, test } from "vitest";
import { LeaseHeld, LeaseLost } from "../../src/domain/errors.ts";
import type { ClaimCause } from "../../src/journal/journal.ts";
import { createAndClaim, newSession, type OpenStore, openFor, readAll, step } from "./store-under-test.ts";

export function leaseContract(open: OpenStore): void {
  describe("the lease", () => {
    test("refuses other claims while it is held, and the error names the process that holds it", async () => {
      const { store, another } = await openFor(open);
      const { id } = await createAndClaim(store);
      for (const claimant of [store, (await another?.()) ?? store]) {
        const error: unknown = await claimant.claimSession(id, "start").catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(LeaseHeld);
        expect((error as LeaseHeld).message).toContain(`process ${process.pid}`);
        expect((error as LeaseHeld).details).toMatchObject({ session: id, pid: process.pid });
      }
      expect(await readAll(store, id)).toHaveLength(2);
    });

    test("goes to exactly one of several concurrent claims", async () => {
      const { store, another } = await openFor(open);
      const { session } = await store.createSession(newSession());
      const other = (await another?.()) ?? store;
      const claims = await Promise.allSettled(
        [store, other, store, other].map((claimant) => claimant.claimSession(session.id, "start")),
      );
      expect(claims.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(
        claims.filter((claim) => claim.status === "rejected" && LeaseHeld.is(claim.reason)),
      ).toHaveLength(3);
      expect(await readAll(store, session.id)).toHaveLength(2);
    });

    test("has an epoch that grows with every claim and stands in the rows", async () => {
      const { store } = await openFor(open);
      const { session } = await store.createSession(newSession());
      for (const epoch of [1, 2, 3]) {
        const { lease, row: claim } = await store.claimSession(session.id, "start");
        expect(lease.epoch).toBe(epoch);
        expect((await readAll(store, session.id)).at(-1)).toEqual(claim);
        const [row] = await store.append(lease, [step(epoch)]);
        expect(row?.epoch).toBe(epoch);
        await store.releaseSession(lease);
      }
      expect((await readAll(store, session.id)).map(({ epoch }) => epoch)).toEqual([0, 1, 1, 2, 2, 3, 3]);
    });

    test("of an older epoch writes nothing, while its batch mates commit", async () => {
      const { store } = await openFor(open);
      const [taken, mate] = [await createAndClaim(store), await createAndClaim(store)];
      await store.releaseSession(taken.lease);
      const { lease } = await store.claimSession(taken.id, "start");
      const [stale, valid, mates, staleInbox] = await Promise.allSettled([
        store.append(taken.lease, [step(1), { kind: "session.status", status: "completed" }], {
          artifacts: ["c".repeat(64)],
        }),
        store.append(lease, [step(2)]),
        store.append(mate.lease, [step(3)]),
        store.receive(taken.lease),
      ]);
      for (const refused of [stale, staleInbox]) {
        expect(refused).toMatchObject({ status: "rejected", reason: expect.any(LeaseLost) });
      }
      expect(stale).toMatchObject({ reason: { details: { epoch: 1, currentEpoch: 2 } } });
      expect([valid?.status, mates?.status]).toEqual(["fulfilled", "fulfilled"]);
      expect((await readAll(store, taken.id)).map(({ name }) => name)).toEqual([null, null, null, "step 2"]);
      expect((await store.findSession(taken.id))?.status).toBe("running");
      expect((await readAll(store, mate.id)).at(-1)?.name).toBe("step 3");
      expect(await store.reports.findReferenced(["c".repeat(64)])).toEqual(new Set());
    });

    test("of an older epoch cannot release the lease of a later one", async () => {
      const { store } = await openFor(open);
      const { id, lease: old } = await createAndClaim(store);
      await store.releaseSession(old);
      const { lease } = await store.claimSession(id, "start");
      await store.releaseSession(old);
      await expect(store.claimSession(id, "start")).rejects.toThrow(LeaseHeld);
      await store.append(lease, [step(1)]);
    });

    test("that was released is free at once, and the cause of the next claim may depend on that", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await store.releaseSession(lease);
      const found: string[] = [];
      const claim = await store.claimSession(id, (state): ClaimCause => {
        found.push(state);
        return "signal";
      });
      expect([...found, claim.found]).toEqual(["free", "free"]);
      expect(JSON.parse((await readAll(store, id)).at(-1)?.body ?? "")).toMatchObject({ cause: "signal" });
    });

    test("of a process that died is found dead at once, and taken over with a new epoch", async (context) => {
      const { store, claimAndDie } = await openFor(open);
      if (claimAndDie === undefined) return context.skip("no other process can reach this store");
      const { session } = await store.createSession(newSession());
      await claimAndDie(session.id);
      expect(await store.reports.abandoned()).toEqual([session.id]);
      const { lease, found } = await store.claimSession(session.id, (state) =>
        state === "free" ? "start" : "recovery",
      );
      expect([lease.epoch, found]).toEqual([2, "dead"]);
      expect(JSON.parse((await readAll(store, session.id)).at(-1)?.body ?? "")).toMatchObject({
        cause: "recovery",
      });
      expect(await store.reports.abandoned()).toEqual([]);
    });

    test("of a process that died after finishing a session leaves it abandoned until it is settled", async (context) => {
      const { store, claimAndDie } = await openFor(open);
      if (claimAndDie === undefined) return context.skip("no other process can reach this store");
      const { id, lease } = await createAndClaim(store);
      await store.append(lease, [{ kind: "session.status", status: "canceled" }]);
      await store.releaseSession(lease);
      expect(await store.reports.abandoned()).toEqual([]);
      await claimAndDie(id);
      expect(await store.reports.abandoned()).toEqual([id]);
      await store.releaseSession((await store.claimSession(id, "signal")).lease);
      expect(await store.reports.abandoned()).toEqual([]);
    });

    test("that was released while its session is running leaves the session abandoned", async () => {
      const { store } = await openFor(open);
      const driven = await createAndClaim(store);
      const [leftRunning, finished] = [await createAndClaim(store), await createAndClaim(store)];
      await store.createSession(newSession());
      await store.append(finished.lease, [{ kind: "session.status", status: "completed" }]);
      await store.releaseSession(finished.lease);
      await store.releaseSession(leftRunning.lease);
      expect(await store.reports.abandoned()).toEqual([leftRunning.id]);
      await store.releaseSession(driven.lease);
      expect(await store.reports.abandoned()).toEqual([driven.id, leftRunning.id]);
    });
  });
}
