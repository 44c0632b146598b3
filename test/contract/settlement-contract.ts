import { describe, expect, test } from "vitest";
import type { ReservationId } from "../../src/domain/ledger.ts";
import {
  amount,
  call,
  expectTotalsAddUp,
  granted,
  limit,
  request,
  settle,
  took,
  totalsAt,
} from "./ledger-support.ts";
import { createAndClaim, type OpenStore, openFor, readAll, step } from "./store-under-test.ts";

export function settlementContract(open: OpenStore): void {
  describe("a settlement", () => {
    test("is recorded with the step it paid for, and the row says all about the call", async () => {
      const { store, clock } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const at = clock.now();
      const reservation = await granted(store, lease, { round: 2, attempt: 3, started: 7 });
      await clock.advance(1_500);
      const usage = {
        inputTokens: 60,
        cachedInputTokens: 20,
        cacheWriteTokens: 10,
        outputTokens: 25,
        reasoningTokens: 5,
      };
      const settlement = { reservation, spent: { usage, costMicroUsd: 77 }, failed: false };
      const rows = await store.append(
        lease,
        [{ kind: "phase.started", phase: "design" }, step(1), { kind: "phase.completed", phase: "design" }],
        { settlement },
      );
      expect(await store.reports.calls(id)).toEqual([
        {
          reservation,
          phase: "design",
          persona: "architect",
          round: 2,
          attempt: 3,
          started: 7,
          step: rows[1]?.seq,
          model: "anthropic/claude",
          asked: amount(100),
          prices: null,
          at,
          epoch: lease.epoch,
          status: "settled",
          failed: false,
          usage,
          costMicroUsd: 77,
          endedAt: at + 1_500,
        },
      ]);
    });

    test("counts once: settling again changes nothing and records nothing", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const reservation = await granted(store, lease);
      await settle(store, lease, reservation, took(10));
      const before = await readAll(store, id);
      await expect(settle(store, lease, reservation, took(10))).rejects.toThrow("settled already");
      expect(await readAll(store, id)).toEqual(before);
      expect(await totalsAt(store, id, "session")).toEqual({ used: amount(10), reserved: amount(0) });
      const never = "never given" as ReservationId;
      await expect(settle(store, lease, never, took(10))).rejects.toThrow("not of this lease");
    });

    test("of a call that left no step needs none", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const reservation = await granted(store, lease);
      const settlement = { reservation, spent: { usage: null, costMicroUsd: null }, failed: true };
      expect(await store.append(lease, [], { settlement })).toEqual([]);
      expect(await store.reports.calls(id)).toMatchObject([
        { status: "estimated", failed: true, step: null },
      ]);
      await store.append(lease, [step(1)]);
      expect(await readAll(store, id)).toHaveLength(3);
    });

    test("of a failed call counts its usage", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await settle(store, lease, await granted(store, lease), took(40), true);
      expect(await store.reports.calls(id)).toMatchObject([{ status: "failed", failed: true }]);
      expect((await totalsAt(store, id, "day")).used).toEqual(amount(40));
      expect((await store.reports.usage({ by: "model" })).total).toMatchObject({ calls: 1, failedCalls: 1 });
    });

    test("without reported usage counts the reserved amount and is marked as estimated", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const silent = { usage: null, costMicroUsd: null };
      await call(store, lease, silent, { asked: amount(100, 250) });
      expect(await store.reports.calls(id)).toMatchObject([
        { status: "estimated", failed: false, usage: null },
      ]);
      expect((await totalsAt(store, id, "session")).used).toEqual(amount(100, 250));
      const { total } = await store.reports.usage({ by: "model" });
      expect(total).toMatchObject({
        inputTokens: 0,
        outputTokens: 0,
        costMicroUsd: 0,
        estimatedTokens: 100,
        estimatedMicroUsd: 250,
        calls: 1,
        unpricedCalls: 0,
        unreportedCalls: 1,
      });
    });

    test("with tokens but no price counts the dollars that were asked", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await call(store, lease, took(30, { costMicroUsd: null }), { asked: amount(100, 250) });
      expect((await totalsAt(store, id, "session")).used).toEqual(amount(30, 250));
      expect(await store.reports.calls(id)).toMatchObject([{ status: "settled", costMicroUsd: null }]);
      await expectTotalsAddUp(store, [id]);
    });

    test("above the reserved amount is recorded in full, and later calls are refused by the overrun", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const limits = [limit("session", { tokens: 150 })];
      await call(store, lease, took(5_000), { limits });
      expect((await totalsAt(store, id, "session")).used).toEqual(amount(5_000));
      expect(await store.reserve(lease, request({ asked: amount(0), limits }))).toMatchObject({
        kind: "exceeded",
        limit: 150,
        used: 5_000,
      });
    });

    test.each([
      ["NaN", Number.NaN, Number.NaN],
      ["less than nothing", -5, -5],
      ["a fraction", 1.5, 1.5],
      ["more than the world has", 1e300, 1e300],
      ["more than a call can take", 2_000_000_000, 2 ** 50],
    ])("with a provider's nonsense (%s) counts as what was asked", async (_, wrong, costMicroUsd) => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const { usage } = took(10);
      if (usage === null) throw new Error("no usage");
      await call(store, lease, { usage: { ...usage, outputTokens: wrong }, costMicroUsd });
      expect((await totalsAt(store, id, "session")).used).toEqual(amount(100));
      await expectTotalsAddUp(store, [id]);
    });

    test("whose parts exceed the whole counts both", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const usage = {
        inputTokens: 3,
        cachedInputTokens: 40,
        cacheWriteTokens: 5,
        outputTokens: 1,
        reasoningTokens: 9,
      };
      await call(store, lease, { usage, costMicroUsd: 1 });
      expect((await totalsAt(store, id, "session")).used).toEqual(amount(58, 1));
    });
  });
}
