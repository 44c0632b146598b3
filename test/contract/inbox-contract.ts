import { describe, expect, test } from "vitest";
import { LeaseLost } from "../../src/domain/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { createAndClaim, newSession, type OpenStore, openFor, readAll } from "./store-under-test.ts";

export function inboxContract(open: OpenStore): void {
  describe("the inbox", () => {
    test("accepts signals without a lease, and the driver turns each into one row, in order", async () => {
      const { store, clock } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const sentAt = clock.now();
      await store.signal(id, { action: "pause" });
      await clock.advance(3);
      await store.signal(id, { action: "cancel" });
      const rows = await store.receive(lease);
      expect(rows.map(({ kind, body }) => [kind, JSON.parse(body)])).toEqual([
        ["signal.received", { signal: { action: "pause" }, sentAt }],
        ["signal.received", { signal: { action: "cancel" }, sentAt: sentAt + 3 }],
      ]);
      expect((await readAll(store, id)).slice(2)).toEqual(rows);
    });

    test("delivers each signal exactly once", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await store.signal(id, { action: "pause" });
      const received = await Promise.all([store.receive(lease), store.receive(lease), store.receive(lease)]);
      expect(received.flat()).toHaveLength(1);
      expect(await store.receive(lease)).toEqual([]);
      expect(await readAll(store, id)).toHaveLength(3);
    });

    test("delivers a signal to the next driver when the present one has lost its lease", async () => {
      const { store } = await openFor(open);
      const { id, lease: old } = await createAndClaim(store);
      await store.signal(id, { action: "cancel" });
      await store.releaseSession(old);
      await expect(store.receive(old)).rejects.toThrow(LeaseLost);
      const { lease } = await store.claimSession(id, "start");
      // Before the claim, so that a person's resume takes back an older pause and not a newer one.
      expect((await readAll(store, id)).slice(2).map(({ kind }) => kind)).toEqual([
        "signal.received",
        "session.claimed",
      ]);
      expect(await store.receive(lease)).toEqual([]);
    });

    test("tells a process which of its own sessions have signals waiting", async () => {
      const { store, another } = await openFor(open);
      const [addressed, quiet] = [await createAndClaim(store), await createAndClaim(store)];
      const { session: undriven } = await store.createSession(newSession());
      const signaled = async (of: Store) =>
        [...(await of.reports.held())].flatMap(([id, { isSignaled }]) => (isSignaled ? [id] : []));
      expect(await signaled(store)).toEqual([]);
      const speaker = (await another?.()) ?? store;
      await speaker.signal(addressed.id, { action: "pause" });
      await speaker.signal(addressed.id, { action: "pause" });
      await speaker.signal(undriven.id, { action: "pause" });
      expect(await signaled(store)).toEqual([addressed.id]);
      const elsewhere = speaker === store ? [] : await signaled(speaker);
      expect(elsewhere).toEqual([]);
      await store.receive(addressed.lease);
      await store.receive(quiet.lease);
      expect(await signaled(store)).toEqual([]);
    });

    test("keeps signals over a restart", async (context) => {
      const { store, reopen } = await openFor(open);
      if (reopen === undefined) return context.skip("nothing outlives this store");
      const { session } = await store.createSession(newSession());
      await store.signal(session.id, { action: "cancel" });
      const later = await reopen();
      await later.claimSession(session.id, "signal");
      const kinds = (await readAll(later, session.id)).map(({ kind }) => kind);
      expect(kinds).toEqual(["session.created", "signal.received", "session.claimed"]);
    });
  });
}
