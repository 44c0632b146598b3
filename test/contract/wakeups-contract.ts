import { describe, expect, test, vi } from "vitest";
import { createAndClaim, type OpenStore, openFor } from "./store-under-test.ts";

export function wakeupsContract(open: OpenStore): void {
  describe("a wakeup", () => {
    test("of a signal comes when the signal can be received", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const received: Promise<number>[] = [];
      store.wakeups.hear("signal", () => received.push(store.receive(lease).then((rows) => rows.length)));
      await store.signal(id, { action: "pause" });
      await vi.waitUntil(() => received.length > 0);
      expect(await received[0]).toBe(1);
    });

    test("comes when a driver releases a session", async () => {
      const { store } = await openFor(open);
      let wakeups = 0;
      store.wakeups.hear("due", () => {
        wakeups += 1;
      });
      const { lease } = await createAndClaim(store);
      await store.releaseSession(lease);
      await expect.poll(() => wakeups).toBeGreaterThan(0);
    });

    test("is not sent to a listener that has stopped", async () => {
      const { store } = await openFor(open);
      const heard: string[] = [];
      const stop = store.wakeups.hear("due", () => heard.push("stopped"));
      store.wakeups.hear("due", () => heard.push("listening"));
      stop();
      store.wakeups.tell("due");
      await vi.waitUntil(() => heard.length > 0);
      expect(heard).toEqual(["listening"]);
    });
  });
}
