import { expect, test } from "vitest";
import {
  attemptPolicy,
  decideAfterAttempt,
  decideAfterRound,
  delayMs,
  remainingWaitMs,
  roundDelayMs,
  roundPolicy,
} from "../../../src/domain/retry-policy.ts";
import { newSeed, seededRandom } from "./seeded-random.ts";

test("attempts wait 1, 2, 4, 5 s, and jitter adds up to half from the first wait on", () => {
  expect([1, 2, 3, 4, 5].map((failed) => delayMs(attemptPolicy, failed, 0))).toEqual([
    1000, 2000, 4000, 5000, 5000,
  ]);
  expect([1, 2, 3, 4].map((failed) => delayMs(attemptPolicy, failed, 1))).toEqual([1500, 3000, 5000, 5000]);
  expect(delayMs(attemptPolicy, 1, 0.5)).toBe(1250);
});

test("rounds wait 5, 10, 20 s and never longer", () => {
  expect([1, 2, 3, 4, 1000].map((failed) => roundDelayMs(roundPolicy, failed))).toEqual([
    5000, 10_000, 20_000, 20_000, 20_000,
  ]);
});

test("no delay leaves the bounds of its policy", () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  const outside: string[] = [];
  for (let count = 0; count < 10_000; count += 1) {
    const baseDelayMs = Math.floor(random() * 10_000);
    const policy = { maxAttempts: 3, baseDelayMs, maxDelayMs: baseDelayMs + Math.floor(random() * 100_000) };
    const ms = delayMs(policy, Math.floor(random() * 2000), random());
    const inside = Number.isInteger(ms) && ms >= policy.baseDelayMs && ms <= policy.maxDelayMs;
    if (!inside) outside.push(`${ms} for ${JSON.stringify(policy)}`);
  }
  expect(outside, `seed ${seed}`).toEqual([]);
  expect(delayMs({ maxAttempts: 3, baseDelayMs: 0, maxDelayMs: 5 }, 5000, 0.5)).toBe(0);
});

test("a persona that always fails is tried 3 times a round, for 2 rounds", () => {
  const attempts = [1, 2, 3].map((failed) => decideAfterAttempt(attemptPolicy, failed, true, 0));
  expect(attempts).toEqual([
    { kind: "retry", delayMs: 1000 },
    { kind: "retry", delayMs: 2000 },
    { kind: "exhausted" },
  ]);
  const rounds = [1, 2].map((failed) => decideAfterRound(roundPolicy, failed));
  expect(rounds).toEqual([{ kind: "retry", delayMs: 5000 }, { kind: "exhausted" }]);
});

test("an unrecoverable failure is not tried again", () => {
  expect(decideAfterAttempt(attemptPolicy, 1, false, 0)).toEqual({ kind: "exhausted" });
});

test("after a restart only the rest of a wait is waited, whatever the clock did", () => {
  const wait = { notBefore: 10_000, waitMs: 4000 };
  expect(remainingWaitMs(wait, 6000)).toBe(4000);
  expect(remainingWaitMs(wait, 9000)).toBe(1000);
  expect(remainingWaitMs(wait, 99_000)).toBe(0);
  expect(remainingWaitMs(wait, -1_000_000)).toBe(4000);
});
