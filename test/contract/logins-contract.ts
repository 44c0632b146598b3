import { describe, expect, test } from "vitest";
import type { Login } from "../../src/store/logins.ts";
import { type OpenStore, openFor } from "./store-under-test.ts";

const login = (now: number, more: Partial<Login> = {}): Login => ({
  name: "owner",
  role: "admin",
  createdAt: now,
  usedAt: now,
  expiresAt: now + 1_000,
  ...more,
});

export function loginsContract(open: OpenStore): void {
  describe("a login", () => {
    test("is found by its hash alone, with its name and role, also after a restart", async () => {
      const { store, reopen, clock } = await openFor(open);
      const given = login(clock.now());
      await store.access.logins.add("hash", given);
      const later = (await reopen?.()) ?? store;
      expect(await later.access.logins.find("hash")).toEqual(given);
      expect(await later.access.logins.find("has")).toBeUndefined();
      expect(await later.access.logins.find("")).toBeUndefined();
    });

    test("ends once, and is over at once for every process", async () => {
      const { store, another, clock } = await openFor(open);
      const other = (await another?.()) ?? store;
      await store.access.logins.add("hash", login(clock.now()));
      expect(await other.access.logins.find("hash")).toBeDefined();
      expect(await store.access.logins.end("hash")).toBe(true);
      expect(await store.access.logins.end("hash")).toBe(false);
      expect(await other.access.logins.find("hash")).toBeUndefined();
    });

    test("lasts longer when it is renewed, and is not revived after its end", async () => {
      const { store, clock } = await openFor(open);
      const given = login(clock.now());
      await store.access.logins.add("hash", given);
      const times = { usedAt: clock.now() + 500, expiresAt: clock.now() + 1_500 };
      await store.access.logins.renew("hash", times);
      expect(await store.access.logins.find("hash")).toEqual({ ...given, ...times });
      await store.access.logins.end("hash");
      await store.access.logins.renew("hash", times);
      expect(await store.access.logins.find("hash")).toBeUndefined();
    });

    test("is forgotten after it expired, when another one is added", async () => {
      const { store, clock } = await openFor(open);
      await store.access.logins.add("old", login(clock.now()));
      await store.access.logins.add("new", login(clock.now(), { expiresAt: clock.now() + 5_000 }));
      expect(await store.access.logins.find("old")).toBeDefined();
      await clock.advance(1_000);
      await store.access.logins.add("newest", login(clock.now()));
      expect(await store.access.logins.find("old")).toBeUndefined();
      expect(await store.access.logins.find("new")).toBeDefined();
    });
  });
}
