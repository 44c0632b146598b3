import { describe, expect, test } from "vitest";
import type { ReservationId } from "../../src/domain/ledger.ts";
import type { Lease, ReservationAnswer } from "../../src/store/journal.ts";
import type { Store } from "../../src/store/store.ts";
import { newSeed, seededRandom } from "../unit/domain/seeded-random.ts";
import { allCalls, amount, call, granted, limit, request, settle, took } from "./ledger-support.ts";
import { createAndClaim, newSession, type OpenStore, openFor } from "./store-under-test.ts";

const rate = { provider: "anthropic", requestsPerMinute: 2 };

const ask = (
  store: Store,
  lease: Lease,
  over: Parameters<typeof request>[0] = {},
): Promise<ReservationAnswer> => store.reserve(lease, request({ rate, ...over }));

export function ratesContract(open: OpenStore): void {
  describe("the rate of a provider", () => {
    test("admits so many requests a minute, over all its models and sessions, and then says when there is room", async () => {
      const { store, clock } = await openFor(open);
      const [one, other] = [await createAndClaim(store), await createAndClaim(store)];
      const begun = clock.now();
      await call(store, one.lease, took(10), { rate, model: "anthropic/large" });
      await clock.advance(20_000);
      await call(store, other.lease, took(10), { rate, model: "anthropic/small" });
      const later = { kind: "later", provider: "anthropic", unit: "requests", limit: 2 };
      expect(await ask(store, one.lease)).toEqual({ ...later, until: begun + 60_000 });
      expect(await ask(store, other.lease)).toEqual({ ...later, until: begun + 60_000 });
      await clock.advance(39_999);
      expect(await ask(store, one.lease)).toMatchObject(later);
      await clock.advance(1);
      await granted(store, one.lease, { rate });
      expect(await ask(store, other.lease)).toMatchObject(later);
    });

    test("reserves nothing while it says later", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      for (let made = 0; made < 2; made += 1) await call(store, lease, took(10), { rate });
      expect(await ask(store, lease)).toMatchObject({ kind: "later" });
      expect(await allCalls(store, id)).toHaveLength(2);
    });

    test("counts calls of sessions that have no limit, failed calls and calls without an answer", async () => {
      const { store, clock } = await openFor(open);
      const { lease } = await createAndClaim(store);
      await settle(store, lease, await granted(store, lease), took(10), true);
      await granted(store, lease);
      expect(await ask(store, lease)).toMatchObject({ kind: "later", unit: "requests" });
      // One without an end may still be on its way for five seconds.
      await clock.advance(60_000);
      await granted(store, lease, { rate });
      expect(await ask(store, lease)).toMatchObject({ kind: "later", until: clock.now() + 5_000 });
    });

    test("counts no call of another provider, also of one whose name begins alike, and none that was never sent", async () => {
      const { store } = await openFor(open);
      const { lease } = await createAndClaim(store);
      for (const model of [
        "anthropic-proxy/claude",
        "anthropics/claude",
        "openai/gpt-5",
        "my/anthropic/claude",
      ])
        await call(store, lease, took(10), { model });
      const unsent = await granted(store, lease, { rate });
      await granted(store, lease, { rate });
      await store.withdraw(lease, unsent);
      await granted(store, lease, { rate });
      expect(await ask(store, lease)).toMatchObject({ kind: "later" });
    });

    test("admits so many tokens a minute, counted as asked until the usage is known", async () => {
      const { store, clock } = await openFor(open);
      const { lease } = await createAndClaim(store);
      const tokens = { rate: { provider: "anthropic", tokensPerMinute: 250 }, asked: amount(200) };
      const first = await granted(store, lease, tokens);
      expect(await ask(store, lease, tokens)).toEqual({
        kind: "later",
        provider: "anthropic",
        unit: "tokens",
        limit: 250,
        until: clock.now() + 65_000,
      });
      await settle(store, lease, first, took(51));
      expect(await ask(store, lease, tokens)).toMatchObject({ kind: "later", until: clock.now() + 60_000 });
      await granted(store, lease, { ...tokens, asked: amount(199) });
    });

    test("admits a call of more tokens than a minute has when the minute is empty", async () => {
      const { store, clock } = await openFor(open);
      const { lease } = await createAndClaim(store);
      const large = { rate: { provider: "anthropic", tokensPerMinute: 100 }, asked: amount(1_000) };
      await call(store, lease, took(1), large);
      const answer = await ask(store, lease, large);
      expect(answer).toMatchObject({ kind: "later", unit: "tokens" });
      await clock.advance(60_000);
      await granted(store, lease, large);
    });

    test("is asked after the budgets, so that a call they refuse does not wait first", async () => {
      const { store } = await openFor(open);
      const { lease } = await createAndClaim(store);
      for (let made = 0; made < 2; made += 1) await call(store, lease, took(10), { rate });
      const limits = [limit("session", { tokens: 50 })];
      expect(await ask(store, lease, { limits })).toMatchObject({ kind: "exceeded" });
    });

    test("does not stop calls for long when the clock is set back", async () => {
      const { store, clock } = await openFor(open);
      const { lease } = await createAndClaim(store);
      for (let made = 0; made < 2; made += 1) await call(store, lease, took(10), { rate });
      expect(await ask(store, lease)).toMatchObject({ kind: "later" });
      clock.jump(-3_600_000);
      expect(await ask(store, lease)).toMatchObject({ kind: "granted" });
    });

    test("is exceeded in no minute, whatever calls come and end", async () => {
      const seed = newSeed();
      const random = seededRandom(seed);
      const { store, clock } = await openFor(open);
      const sessions = [await createAndClaim(store), await createAndClaim(store)];
      const both = { provider: "anthropic", requestsPerMinute: 5, tokensPerMinute: 700 };
      const made: { at: number; tokens: number }[] = [];
      const under: { lease: Lease; reservation: ReservationId; asked: number }[] = [];
      let waited = 0;
      for (let turn = 0; turn < 200; turn += 1) {
        const { lease } = sessions[turn % 2] as (typeof sessions)[number];
        const asked = 1 + Math.floor(random() * 300);
        const answer = await ask(store, lease, { rate: both, asked: amount(asked) });
        if (answer.kind === "granted") {
          made.push({ at: clock.now(), tokens: asked });
          under.push({ lease, reservation: answer.reservation, asked });
        } else waited += 1;
        // Each takes what it asked for, so that the tokens of a minute can be added up.
        const ended = random() < 0.7 ? under.shift() : undefined;
        if (ended !== undefined) await settle(store, ended.lease, ended.reservation, took(ended.asked));
        await clock.advance(Math.floor(random() * 9_000));
      }
      expect(waited, `seed ${seed}`).toBeGreaterThan(10);
      for (const { at } of made) {
        const minute = made.filter((other) => other.at >= at && other.at < at + 60_000);
        expect(minute.length, `seed ${seed}`).toBeLessThanOrEqual(5);
        const tokens = minute.reduce((sum, one) => sum + one.tokens, 0);
        expect(tokens, `seed ${seed}`).toBeLessThanOrEqual(700);
      }
    });

    test("holds between two processes that ask at the same moment", async () => {
      const { store, another } = await openFor(open);
      const others = (await another?.()) ?? store;
      const [one, other] = [await createAndClaim(store), await createAndClaim(others)];
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          index % 2 === 0 ? ask(store, one.lease) : ask(others, other.lease),
        ),
      );
      expect(answers.filter(({ kind }) => kind === "granted")).toHaveLength(2);
      expect(answers.filter(({ kind }) => kind === "later")).toHaveLength(8);
    });
  });

  describe("the version of the price table", () => {
    test("stands in the row of the call and in the reports, also after the session is gone", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await call(store, lease, took(10), { prices: "genai-prices@1" });
      await call(store, lease, took(10), { prices: "update:2" });
      await call(store, lease, took(10));
      expect((await allCalls(store, id)).map(({ prices }) => prices)).toEqual([
        "genai-prices@1",
        "update:2",
        null,
      ]);
      const versions = async () => (await store.reports.usage({ by: "model" })).total;
      expect(await versions()).toMatchObject({ calls: 3, prices: ["genai-prices@1", "update:2"] });
      const usage = await store.reports.snapshot(id);
      expect(usage.map(({ prices }) => prices)).toEqual([undefined, "genai-prices@1", "update:2"]);
      await store.releaseSession(lease);
      await store.deleteSession(id);
      expect(await versions()).toMatchObject({ calls: 3, prices: ["genai-prices@1", "update:2"] });
      const { session } = await store.createSession({ ...newSession(), usage });
      const { lease: restored } = await store.claimSession(session.id, "start");
      await call(store, restored, took(10), { prices: "update:2" });
      expect(await versions()).toMatchObject({ calls: 7, prices: ["genai-prices@1", "update:2"] });
    });
  });
}
