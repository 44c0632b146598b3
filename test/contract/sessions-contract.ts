import { describe, expect, test } from "vitest";
import { SessionNotFound } from "../../src/domain/errors.ts";
import { newSessionId, type SessionId } from "../../src/domain/ids.ts";
import type { SessionStatus } from "../../src/journal/standing.ts";
import type { ListingQuery } from "../../src/store/reports.ts";
import type { Store } from "../../src/store/store.ts";
import { breakerRow, statusRow } from "./status-row.ts";
import {
  createAndClaim,
  newestFirst,
  newSession,
  type OpenStore,
  openFor,
  readAll,
  step,
  takeable,
} from "./store-under-test.ts";

export function sessionsContract(open: OpenStore): void {
  describe("sessions", () => {
    test("a new session is queued, and its first row has its team and brief", async () => {
      const { store, clock } = await openFor(open);
      const given = newSession({ key: "k" });
      const { session, row } = await store.createSession(given);
      expect(session).toEqual({
        id: given.id,
        key: "k",
        team: "team",
        teamFingerprint: "t1",
        identity: given.identity,
        status: "queued",
        reason: undefined,
        createdAt: clock.now(),
        updatedAt: clock.now(),
        wakeAt: undefined,
        model: undefined,
        queue: "default",
        priority: 0,
        blocked: undefined,
      });
      expect(await readAll(store, given.id)).toEqual([row]);
      expect(row).toMatchObject({ seq: 1, epoch: 0, kind: "session.created", at: clock.now() });
      expect(JSON.parse(row?.body ?? "")).toMatchObject({ brief: "brief", key: "k" });
    });

    test("creating twice with one key is one session, also at the same moment", async () => {
      const { store } = await openFor(open);
      const made = await Promise.all(
        Array.from({ length: 8 }, () => store.createSession(newSession({ key: "same" }))),
      );
      expect(new Set(made.map(({ session }) => session.id)).size).toBe(1);
      expect(made.filter(({ row }) => row !== undefined)).toHaveLength(1);
      const again = await store.createSession(newSession({ key: "same", identity: "other work" }));
      // Whether the same key means the same work is for the caller to judge, so it gets what is there.
      expect(again).toMatchObject({ session: { id: made[0]?.session.id }, row: undefined });
      expect(again.session.identity).not.toBe("other work");
    });

    test("sessions without a key, and with different keys, are different sessions", async () => {
      const { store } = await openFor(open);
      const made = [newSession(), newSession(), newSession({ key: "a" }), newSession({ key: "b" })];
      for (const session of made) await store.createSession(session);
      expect(await store.reports.list(newestFirst)).toHaveLength(4);
    });

    test("a session is found by id and by key, and an id wins over a key that looks like it", async () => {
      const { store } = await openFor(open);
      const [first, second] = [newSession(), newSession({ key: "k" })];
      await store.createSession(first);
      await store.createSession(second);
      expect((await store.findSession(first.id))?.id).toBe(first.id);
      expect((await store.findSession("k"))?.id).toBe(second.id);
      expect(await store.findSession("nobody")).toBeUndefined();
      expect(await store.findSession("")).toBeUndefined();
      const pretender = newSession({ key: first.id });
      await store.createSession(pretender);
      expect((await store.findSession(first.id))?.id).toBe(first.id);
      const again = await store.createSession(newSession({ key: first.id }));
      expect(again.session.id).toBe(pretender.id);
    });

    test("every verb on an unknown session fails with SessionNotFound", async () => {
      const { store } = await openFor(open);
      const id = newSessionId();
      await expect(store.claimSession(id, "start")).rejects.toThrow(SessionNotFound);
      await expect(store.signal(id, { action: "pause" })).rejects.toThrow(SessionNotFound);
      await expect(store.deleteSession(id)).rejects.toThrow(SessionNotFound);
      await expect(readAll(store, id)).rejects.toThrow(SessionNotFound);
    });

    test("the list is newest first, by status, and in pages behind a cursor", async () => {
      const { store } = await openFor(open);
      const ids: SessionId[] = [];
      for (const status of ["completed", "paused", "completed", "failed", "completed"] as const) {
        ids.unshift(await sessionWith(store, status));
      }
      const list = (query: Partial<ListingQuery> = {}) => store.reports.list({ ...newestFirst, ...query });
      const listed = async (query?: Partial<ListingQuery>) => (await list(query)).map(({ id }) => id);
      expect(await listed()).toEqual(ids);
      const completed = [ids[0], ids[2], ids[4]];
      expect(await listed({ statuses: ["completed"] })).toEqual(completed);
      expect(await listed({ statuses: ["completed", "failed"] })).toEqual([...ids.slice(0, 3), ids[4]]);
      expect(await listed({ statuses: [] })).toEqual([]);
      expect(await listed({ limit: 2 })).toEqual(ids.slice(0, 2));
      const cursors = (await list()).map(({ cursor }) => cursor);
      expect(await listed({ limit: 2, after: cursors[1] })).toEqual(ids.slice(2, 4));
      expect(await listed({ statuses: ["completed"], after: cursors[0] })).toEqual(completed.slice(1));
      expect(await listed({ after: cursors[4] })).toEqual([]);
    });

    test("a status row changes the session's record in the same commit", async () => {
      const { store, clock } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      expect(await store.findSession(id)).toMatchObject({ status: "running", reason: undefined });
      await clock.advance(5);
      await store.append(lease, [step(1), statusRow("parked")]);
      expect(await store.findSession(id)).toMatchObject({
        status: "parked",
        reason: "help",
        updatedAt: clock.now(),
      });
      await store.releaseSession(lease);
      const { lease: toListen } = await store.claimSession(id, "signal");
      expect(await store.findSession(id)).toMatchObject({ status: "parked", reason: "help" });
      await store.releaseSession(toListen);
      await store.claimSession(id, "resume");
      expect(await store.findSession(id)).toMatchObject({ status: "running", reason: undefined });
    });

    test("a canceled session stays canceled when it is claimed", async () => {
      const { store } = await openFor(open);
      const id = await sessionWith(store, "canceled");
      await store.claimSession(id, "resume");
      expect((await store.findSession(id))?.status).toBe("canceled");
    });
  });

  describe("sessions that wait for their time", () => {
    test("wait no longer than planned, also when the clock is set back an hour", async () => {
      const { store, clock } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const wakeAt = clock.now() + 3_600_000;
      await store.append(lease, [breakerRow(wakeAt)]);
      await store.releaseSession(lease);
      await clock.advance(60_000);
      expect(await takeable(store)).toEqual([]);
      clock.jump(-3_600_000);
      expect(await takeable(store)).toEqual([id]);
      clock.jump(2 * 3_600_000);
      expect(await takeable(store)).toEqual([id]);
    });
  });
}

async function sessionWith(store: Store, status: SessionStatus): Promise<SessionId> {
  const { id, lease } = await createAndClaim(store);
  await store.append(lease, [statusRow(status)]);
  await store.releaseSession(lease);
  return id;
}
