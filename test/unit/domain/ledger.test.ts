import { expect, test } from "vitest";
import type { Amount } from "../../../src/domain/budget.ts";
import { countedAs, endingOf, lostCall, sumsOf, utcDay } from "../../../src/domain/ledger.ts";
import { normalizeUsage, noUsage, type Spent, totalTokens } from "../../../src/domain/usage.ts";
import { newSeed, seededRandom } from "./seeded-random.ts";

const asked: Amount = { tokens: 100, microUsd: 250 };
const usage = { ...noUsage, inputTokens: 20, outputTokens: 5 };

test("known usage counts as reported, and unknown usage counts as reserved", () => {
  const counted = (spent: Spent) => countedAs(endingOf({ spent, failed: false }), asked);
  expect(counted({ usage, costMicroUsd: 7 })).toEqual({ tokens: 25, microUsd: 7 });
  expect(counted({ usage, costMicroUsd: null })).toEqual({ tokens: 25, microUsd: 250 });
  expect(counted({ usage: null, costMicroUsd: 7 })).toEqual({ tokens: 100, microUsd: 7 });
  expect(counted({ usage: null, costMicroUsd: null })).toEqual(asked);
  expect(countedAs(lostCall, asked)).toEqual(asked);
  expect(countedAs(lostCall, { tokens: 100, microUsd: null })).toEqual({ tokens: 100, microUsd: null });
});

test("a call that failed without a report is an estimate that failed", () => {
  const spent = { usage: null, costMicroUsd: null };
  expect(endingOf({ spent, failed: true })).toMatchObject({ status: "estimated", failed: true });
  expect(endingOf({ spent: { usage, costMicroUsd: 0 }, failed: true }).status).toBe("failed");
  expect(endingOf({ spent: { usage, costMicroUsd: 0 }, failed: false }).status).toBe("settled");
});

test("reports and budgets agree on every call, whatever a provider says", () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  const numbers = [0, 1, 17, 1e6, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300, 1_000_000_001];
  const pick = () => numbers[Math.floor(random() * numbers.length)] as number;
  for (let count = 0; count < 5_000; count += 1) {
    const reported = {
      inputTokens: pick(),
      cachedInputTokens: pick(),
      cacheWriteTokens: pick(),
      outputTokens: pick(),
      reasoningTokens: pick(),
    };
    const of = { tokens: Math.floor(random() * 1e6), microUsd: random() < 0.3 ? null : 5 };
    const spent = { usage: random() < 0.1 ? null : reported, costMicroUsd: random() < 0.2 ? null : pick() };
    const ending = endingOf({ spent, failed: random() < 0.5 });
    const [sums, counted] = [sumsOf(ending, of), countedAs(ending, of)];
    expect(totalTokens(sums) + sums.estimatedTokens, `seed ${seed}`).toBe(counted.tokens);
    // Reported tokens without a price have no known price, although budgets count what was reserved for them.
    const isUnpriced = ending.costMicroUsd === null && (of.microUsd === null || ending.usage !== null);
    expect(sums.unpricedCalls === 1).toBe(isUnpriced);
    expect(sums.costMicroUsd + sums.estimatedMicroUsd).toBe(counted.microUsd ?? 0);
    for (const value of Object.values(sums)) expect(Number.isSafeInteger(value) && value >= 0).toBe(true);
  }
});

test("parts that exceed their whole were reported beside it, and are added to it", () => {
  const beside = { ...usage, cachedInputTokens: 30, cacheWriteTokens: 4, reasoningTokens: 9 };
  const added = { ...beside, inputTokens: 54, outputTokens: 14 };
  expect(normalizeUsage(beside)).toEqual(added);
  expect(normalizeUsage(added)).toEqual(added);
  const within = { ...usage, cachedInputTokens: 16, cacheWriteTokens: 4, reasoningTokens: 5 };
  expect(normalizeUsage(within)).toEqual(within);
});

test("a day is the same everywhere on earth", () => {
  expect(utcDay(Date.UTC(2026, 1, 28, 23, 59, 59, 999))).toBe("2026-02-28");
  expect(utcDay(Date.UTC(2026, 2, 1))).toBe("2026-03-01");
});
