import { describe, expect, test } from "vitest";
import { comparePositions, startPosition } from "../../src/domain/cursor.ts";
import { LeaseHeld, SessionConflict } from "../../src/domain/errors.ts";
import {
  createAndClaim,
  follow,
  newestFirst,
  newSession,
  type OpenStore,
  openFor,
  readAll,
  step,
  steps,
} from "./store-under-test.ts";

const [first, second, shared] = ["1".repeat(64), "2".repeat(64), "3".repeat(64)];

export function retentionContract(open: OpenStore): void {
  describe("deleting a session", () => {
    test("is refused while a driver holds it, and nothing is lost", async () => {
      const { store, another } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await store.append(lease, steps(3), { artifacts: [first] });
      await expect(store.deleteSession(id)).rejects.toThrow(LeaseHeld);
      await expect(((await another?.()) ?? store).deleteSession(id)).rejects.toThrow(LeaseHeld);
      expect(await readAll(store, id)).toHaveLength(5);
      expect(await store.reports.findReferenced([first])).toEqual(new Set([first]));
    });

    test("removes its record, rows, signals and references, and none of other sessions", async () => {
      const { store } = await openFor(open);
      const [gone, kept] = [await createAndClaim(store), await createAndClaim(store)];
      const goneRows = await store.append(gone.lease, steps(2_500), { artifacts: [first, shared] });
      await store.append(kept.lease, steps(20), { artifacts: [second, shared] });
      await store.signal(gone.id, { action: "pause" });
      await store.signal(kept.id, { action: "pause" });
      const before = await readAll(store, kept.id);
      await store.releaseSession(gone.lease);
      await store.deleteSession(gone.id);
      expect(await store.findSession(gone.id)).toBeUndefined();
      expect((await store.reports.list(newestFirst)).map(({ id }) => id)).toEqual([kept.id]);
      expect(await store.reports.findReferenced([first, second, shared])).toEqual(new Set([second, shared]));
      const bodies = await Promise.allSettled(goneRows.map(({ seq }) => store.readBody(gone.id, seq)));
      expect(bodies.filter(({ status }) => status === "fulfilled")).toEqual([]);
      expect(await readAll(store, kept.id)).toEqual(before);
      expect(await store.receive(kept.lease)).toHaveLength(1);
    });

    test("is refused with onlyFinished when it was resumed meanwhile, and nothing is lost", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await store.append(lease, [{ kind: "session.status", status: "parked", reason: "review" }]);
      await store.releaseSession(lease);
      const onlyFinished = true;
      await expect(store.deleteSession(id, { onlyFinished })).rejects.toThrow(SessionConflict);
      expect(await readAll(store, id)).toHaveLength(3);
      const { lease: again } = await store.claimSession(id, "resume");
      await store.append(again, [{ kind: "session.status", status: "completed" }]);
      await store.releaseSession(again);
      await store.deleteSession(id, { onlyFinished });
      expect(await store.findSession(id)).toBeUndefined();
    });

    test("frees its key", async () => {
      const { store } = await openFor(open);
      const { session } = await store.createSession(newSession({ key: "k" }));
      await store.deleteSession(session.id);
      const again = await store.createSession(newSession({ key: "k" }));
      expect(again.session.id).not.toBe(session.id);
      expect(again.row?.seq).toBe(1);
    });

    test.each([1, 30, 2_000, 2_700])(
      "with the newest rows (%i) hides no row that is written afterwards, also after a restart",
      async (count) => {
        const { store, reopen } = await openFor(open);
        const kept = await createAndClaim(store);
        await store.append(kept.lease, steps(5));
        const newest = await createAndClaim(store);
        await store.append(newest.lease, steps(count));
        await store.releaseSession(newest.lease);
        await store.deleteSession(newest.id);
        const added = await store.append(kept.lease, steps(40, 100));
        expect((await readAll(store, kept.id)).slice(7)).toEqual(added);
        for (const { seq, body } of added) expect(await store.readBody(kept.id, seq)).toBe(body);
        const { id, lease } = await createAndClaim(store);
        await store.append(lease, steps(2_100));
        expect(await readAll(store, id)).toHaveLength(2_102);
        expect((await readAll(store, kept.id)).slice(7)).toEqual(added);
        await store.releaseSession(kept.lease);
        const later = (await reopen?.()) ?? store;
        expect((await readAll(later, kept.id)).slice(7)).toEqual(added);
      },
    );

    test("never frees a position for reuse, so a follower of the journal misses no row", async () => {
      const { store, reopen } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await store.append(lease, steps(300));
      await store.releaseSession(lease);
      const end = await store.reports.position();
      await store.deleteSession(id);
      expect(comparePositions(await store.reports.position(), end)).toBeGreaterThanOrEqual(0);
      const later = (await reopen?.()) ?? store;
      expect(comparePositions(await later.reports.position(), end)).toBeGreaterThanOrEqual(0);
      await later.createSession(newSession());
      const [row, ...more] = await follow(later, end, 1);
      expect(more).toEqual([]);
      expect(comparePositions(row?.position ?? startPosition, end)).toBeGreaterThan(0);
      const last = row?.position ?? startPosition;
      expect(comparePositions(await later.reports.position(), last)).toBeGreaterThanOrEqual(0);
    });

    test("leaves a working store when it was the last one", async () => {
      const { store } = await openFor(open);
      for (let round = 0; round < 3; round += 1) {
        const { id, lease } = await createAndClaim(store);
        await store.append(lease, steps(10));
        expect(await readAll(store, id)).toHaveLength(12);
        await store.releaseSession(lease);
        await store.deleteSession(id);
        await store.maintenance.reclaimSpace();
      }
      expect(await store.reports.list(newestFirst)).toEqual([]);
    });

    test("and reclaiming its space do not delay other sessions", async () => {
      const { store } = await openFor(open);
      const [gone, kept] = [await createAndClaim(store), await createAndClaim(store)];
      await store.append(gone.lease, steps(3_000));
      await store.releaseSession(gone.lease);
      const [, , appended] = await Promise.all([
        store.deleteSession(gone.id).then(() => store.maintenance.reclaimSpace()),
        store.signal(kept.id, { action: "pause" }),
        Promise.all(steps(200).map((row) => store.append(kept.lease, [row]))),
      ]);
      expect(appended.flat()).toHaveLength(200);
      expect((await readAll(store, kept.id)).filter(({ kind }) => kind === "step.function")).toHaveLength(
        200,
      );
      await store.append(kept.lease, [step(201)]);
    });
  });

  describe("references", () => {
    test("are listed by hash in pages, each once, of all sessions or of one", async () => {
      const { store } = await openFor(open);
      const [one, other] = [await createAndClaim(store), await createAndClaim(store)];
      await store.append(one.lease, [step(1)], { artifacts: [shared, first] });
      await store.append(other.lease, [step(1)], { artifacts: [second, shared] });
      const page = async (after: string, limit: number, by?: typeof one.id) =>
        (await store.reports.references({ by, after, limit })).map(({ sha256, session }) => [
          sha256,
          session,
        ]);
      expect(await page("", 2)).toEqual([
        [first, one.id],
        [second, other.id],
      ]);
      expect(await page(second, 2)).toEqual([[shared, one.id]]);
      expect(await page("", 5, other.id)).toEqual([
        [second, other.id],
        [shared, other.id],
      ]);
      expect(await page(second, 5, other.id)).toEqual([[shared, other.id]]);
    });

    test("are recorded with the rows that point to them, once", async () => {
      const { store } = await openFor(open);
      const { lease } = await createAndClaim(store);
      await store.append(lease, [step(1)], { artifacts: [first, first] });
      await store.append(lease, [step(2)], { artifacts: [first, second] });
      expect(await store.reports.findReferenced([first, second, shared])).toEqual(new Set([first, second]));
      expect(await store.reports.findReferenced([])).toEqual(new Set());
    });
  });
}
