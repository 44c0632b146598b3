import { describe, expect, test } from "vitest";
import { type Cursor, startPosition } from "../../src/domain/cursor.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import type { Transition } from "../../src/journal/journal.ts";
import type { SessionStatus } from "../../src/journal/standing.ts";
import type { ListedSession, ListingQuery } from "../../src/store/reports.ts";
import type { Store } from "../../src/store/store.ts";
import { statusRow } from "./status-row.ts";
import {
  createAndClaim,
  follow,
  newestFirst,
  newSession,
  type OpenStore,
  openFor,
  refusalOf,
  step,
  takeable,
} from "./store-under-test.ts";

const idsOf = (sessions: readonly ListedSession[]) => sessions.map(({ id }) => id);

export function listingContract(open: OpenStore): void {
  describe("lists", () => {
    test("have the requested order, and their pages neither skip nor repeat a session", async () => {
      const { store, clock } = await openFor(open);
      const ids: SessionId[] = [];
      for (let count = 0; count < 7; count += 1) {
        await clock.advance(1);
        ids.push((await store.createSession(newSession())).session.id);
      }
      // Ended in another order than they were made in; two of them in the same millisecond.
      for (const at of [3, 0, 6, 2]) {
        if (at !== 0) await clock.advance(10);
        await end(store, ids[at] as SessionId, at === 6 ? "failed" : "completed");
      }
      const ended = [ids[2], ids[6], ids[3], ids[0]];
      const query = { statuses: ["completed", "failed"], order: "status" } as const;
      expect(idsOf(await store.reports.list({ ...query, limit: 10 }))).toEqual(ended);
      expect(await inPages(store, { ...query, limit: 1 })).toEqual(ended);
      expect(await inPages(store, { order: "created", limit: 2 })).toEqual(ids.toReversed());
      expect(await inPages(store, { statuses: ["queued"], order: "created", limit: 2 })).toEqual([
        ids[5],
        ids[4],
        ids[1],
      ]);
    });

    test("find a session by part of its id, key, team and brief, and treat no character of a search as a pattern", async () => {
      const { store } = await openFor(open);
      const created = async (key: string, team: string, brief: string) => {
        const given = newSession({ key, team });
        await store.createSession({ ...given, created: { ...given.created, brief } });
        return given.id;
      };
      const parking = await created("parking-1", "product", "Ein Parkplatz für 100 % der Stadt");
      const refunds = await created("refunds_2", "billing", `Refunds ${"x".repeat(5_000)} end`);
      const search = async (text: string, over: Partial<ListingQuery> = {}) =>
        idsOf(await store.reports.list({ ...newestFirst, text, ...over }));
      expect(await search("PARKING")).toEqual([parking]);
      expect(await search("stadt")).toEqual([parking]);
      expect(await search("FÜR")).toEqual([parking]);
      expect(await search(refunds.slice(4).toUpperCase())).toEqual([refunds]);
      expect(await search("bill")).toEqual([refunds]);
      expect(await search("%")).toEqual([parking]);
      expect(await search("_")).toEqual([refunds]);
      expect(await search("'; DROP TABLE sessions; --")).toEqual([]);
      expect(await search("stadt", { team: "billing" })).toEqual([]);
      expect(await search("r", { team: "billing" })).toEqual([refunds]);
      expect((await store.reports.count({ text: "park" }, 0)).byStatus.queued).toBe(1);
    });

    test("are counted by status with the same filters", async () => {
      const { store, clock } = await openFor(open);
      const first = (await store.createSession(newSession({ team: "a" }))).session.id;
      await clock.advance(1_000);
      await store.createSession(newSession({ team: "a" }));
      await store.createSession(newSession({ team: "b" }));
      await end(store, first, "parked");
      const { byStatus, held } = await store.reports.count({}, clock.now());
      expect(byStatus).toEqual({
        queued: 2,
        running: 0,
        paused: 0,
        parked: 1,
        completed: 0,
        failed: 0,
        canceled: 0,
      });
      expect(held).toBe(0);
      const counted = async (filter: { team?: string; since?: number }) =>
        (await store.reports.count(filter, clock.now())).byStatus;
      expect(await counted({ team: "a" })).toMatchObject({ queued: 1, parked: 1 });
      expect(await counted({ since: clock.now() })).toMatchObject({ queued: 2, parked: 0 });
    });

    test("show each session with its card, changed in the same commit as its journal", async () => {
      const { store, clock } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const cardOf = async () => (await store.reports.listed([id]))[0]?.card;
      expect(await cardOf()).toMatchObject({ brief: "brief", phases: [], resumes: 0, held: [] });
      const failed = failure(clock.now() + 5_000);
      await store.append(lease, [failed]);
      expect((await cardOf())?.held).toMatchObject([{ persona: "architect", until: clock.now() + 5_000 }]);
      expect((await store.reports.count({}, clock.now())).held).toBe(1);
      expect((await store.reports.count({}, clock.now() + 5_000)).held).toBe(0);
      expect(
        idsOf(await store.reports.list({ ...newestFirst, statuses: ["running"], heldAt: clock.now() })),
      ).toEqual([id]);
      await store.append(lease, [step(1), statusRow("parked")]);
      expect(await cardOf()).toMatchObject({ held: [], lastFailure: { persona: "architect" } });
      expect(idsOf(await store.reports.list({ ...newestFirst, heldAt: clock.now() }))).toEqual([]);
    });

    test("show since when a session has its status, and a recovery does not change that time", async () => {
      const { store, clock } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const sinceOf = async () => (await store.reports.listed([id]))[0]?.statusAt;
      const began = clock.now();
      await clock.advance(50);
      await store.append(lease, [step(1)]);
      await store.releaseSession(lease);
      const { lease: next } = await store.claimSession(id, "recovery");
      expect(await sinceOf()).toBe(began);
      await store.append(next, [{ kind: "session.status", status: "paused", by: "person" }]);
      expect(await sinceOf()).toBe(began + 50);
    });

    test("show queued sessions in the order of their turn, and leave out those that were not queued to be driven", async () => {
      const { store, clock } = await openFor(open);
      await store.createSession(newSession());
      const [late, early] = [newSession({}), newSession({})];
      await store.createSession({ ...late, wakeAt: clock.now() + 20 });
      await store.createSession({ ...early, wakeAt: clock.now() + 10 });
      expect(await store.reports.queued()).toEqual([early.id, late.id]);
      await clock.advance(30);
      expect(await takeable(store)).toEqual([early.id, late.id]);
    });

    test.each(["", "5", "1-2-3", "a-b", "-1-2"])("refuse %j as the place of a page", async (after) => {
      const { store } = await openFor(open);
      const page = store.reports.list({ ...newestFirst, after: after as Cursor });
      expect(await refusalOf(page)).toBe("InputInvalid");
    });

    test("do not show a deleted session", async () => {
      const { store } = await openFor(open);
      const { session } = await store.createSession(newSession({ key: "gone" }));
      await store.deleteSession(session.id);
      expect(await store.reports.listed([session.id])).toEqual([]);
      expect(await store.reports.list({ ...newestFirst, text: "gone" })).toEqual([]);
    });
  });

  describe("the journal of all sessions", () => {
    test("is read from any position, in the order of commits", async () => {
      const { store } = await openFor(open);
      const one = await createAndClaim(store);
      const before = await store.reports.position();
      const other = await createAndClaim(store);
      await store.append(one.lease, [step(1)]);
      const changes = await follow(store, before, 3);
      expect(changes.map(({ id, seq, kind }) => [id, seq, kind])).toEqual([
        [other.id, 1, "session.created"],
        [other.id, 2, "session.claimed"],
        [one.id, 3, "step.function"],
      ]);
      const middle = changes[0]?.position ?? startPosition;
      expect((await store.reports.changes(middle, 1)).map(({ position }) => position)).toEqual([
        changes[1]?.position,
      ]);
      expect(await store.reports.changes(await store.reports.position(), 100)).toEqual([]);
    });
  });
}

async function inPages(store: Store, query: ListingQuery): Promise<SessionId[]> {
  const found: SessionId[] = [];
  for (let after: ListingQuery["after"]; ; ) {
    const page = await store.reports.list({ ...query, after });
    found.push(...idsOf(page));
    const last = page.at(-1);
    if (last === undefined) return found;
    after = last.cursor;
  }
}

async function end(store: Store, id: SessionId, status: SessionStatus): Promise<void> {
  const { lease } = await store.claimSession(id, "start");
  await store.append(lease, [statusRow(status)]);
  await store.releaseSession(lease);
}

function failure(notBefore: number): Transition {
  return {
    kind: "attempt.failed",
    started: 2,
    phase: "design",
    persona: "architect",
    failure: {
      category: "UNKNOWN",
      severity: "low",
      message: "no",
      source: "error",
      recoverable: true,
      outage: false,
      suggestedFix: "",
      error: { name: "Error", message: "no" },
    },
    next: { kind: "attempt", wait: { notBefore, waitMs: 5_000 }, continues: false },
  };
}
