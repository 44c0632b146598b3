import { describe, expect, test } from "vitest";
import type { Act, User } from "../../src/store/users.ts";
import { type OpenStore, openFor } from "./store-under-test.ts";

const ada: User = { name: "ada", role: "operator", kind: "token", createdAt: 1 };

export function usersContract(open: OpenStore): void {
  describe("a user", () => {
    test("is found by hash and by name, and a name exists once", async () => {
      const { store } = await openFor(open);
      const { users } = store.access;
      expect(await users.add("hash", ada)).toBe(true);
      expect(await users.add("other", { ...ada, role: "admin" })).toBe(false);
      expect(await users.find("hash")).toEqual(ada);
      expect(await users.find("other")).toBeUndefined();
      expect(await users.named("ada")).toEqual(ada);
      expect(await users.add("other", { ...ada, name: "ADA" }), "differs in case alone").toBe(false);
      expect(await users.named("Ada")).toEqual(ada);
      const guest: User = { ...ada, name: "Guest", kind: "link", endsAt: 9 };
      await users.add("link", guest);
      expect(await users.list()).toEqual([guest, ada]);
    });

    test("ends with all logins of the name, for every process", async () => {
      const { store, another } = await openFor(open);
      const other = ((await another?.()) ?? store).access;
      const { users, logins } = store.access;
      await users.add("hash", ada);
      const times = { createdAt: 1, usedAt: 1, expiresAt: Number.MAX_SAFE_INTEGER };
      expect(await logins.add("login", { name: "ada", role: "operator", user: "hash", ...times })).toBe(true);
      await logins.add("another", { name: "owner", role: "admin", ...times });
      expect(await users.revoke("ada")).toBe(true);
      expect(await users.revoke("ada")).toBe(false);
      expect(await other.users.find("hash")).toBeUndefined();
      expect(await other.logins.find("login")).toBeUndefined();
      expect(await other.logins.find("another")).toBeDefined();
      // Its browser asked before the revocation, and the name is in use again.
      await users.add("new", { ...ada, role: "admin" });
      expect(await logins.add("late", { name: "ada", role: "operator", user: "hash", ...times })).toBe(false);
      expect(await other.logins.find("late")).toBeUndefined();
    });

    test("with a link is given it once; a token is no link", async () => {
      const { store } = await openFor(open);
      const { users } = store.access;
      await users.add("token", ada);
      await users.add("link", { ...ada, name: "guest", kind: "link" });
      expect(await users.redeem("token")).toBeUndefined();
      const redeemed = await Promise.all([users.redeem("link"), users.redeem("link")]);
      expect(redeemed.filter((user) => user !== undefined)).toHaveLength(1);
    });
  });

  test("acts are listed newest first, also those of one person", async () => {
    const { store } = await openFor(open);
    const { trail } = store.access;
    const act = (person: string, more: Partial<Act> = {}): Act => ({
      at: 1,
      person,
      role: "viewer",
      operation: "startSession",
      status: 403,
      request: "r",
      ...more,
    });
    const acts = [act("ada"), act("bob", { subject: "k" }), act("ada", { at: 3 })];
    for (const each of acts) await trail.add(each);
    expect(await trail.list({ limit: 2 })).toEqual([acts[2], acts[1]]);
    expect(await trail.list({ limit: 9, person: "bob" })).toEqual([acts[1]]);
  });
}
