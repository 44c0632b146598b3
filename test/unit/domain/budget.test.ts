import { expect, test } from "vitest";
import {
  type Amount,
  add,
  type Budget,
  decideReservation,
  microsToUsd,
  noAmount,
  usdToMicros,
} from "../../../src/domain/budget.ts";
import { newSeed, seededRandom } from "./seeded-random.ts";

const amount = (tokens: number, microUsd: number | null = 0): Amount => ({ tokens, microUsd });
const level = (name: string, budget: Budget, used = noAmount, reserved = noAmount) => ({
  level: name,
  budget,
  ledger: { used, reserved },
});

test("a call that fits at every level is granted, up to the limit itself", () => {
  expect(decideReservation([], amount(10 ** 9, null))).toEqual({ kind: "granted" });
  const levels = [level("persona", { tokens: 100 }, amount(40), amount(50)), level("session", {})];
  expect(decideReservation(levels, amount(10))).toEqual({ kind: "granted" });
});

test("a call that only open reservations block waits", () => {
  const levels = [level("persona", { tokens: 100 }, amount(40), amount(51))];
  expect(decideReservation(levels, amount(10))).toEqual({ kind: "wait", level: "persona" });
});

test("a call over a limit is refused with its numbers, even if another level would only wait", () => {
  const levels = [
    level("persona", { tokens: 100 }, noAmount, amount(100)),
    level("day", { microUsd: usdToMicros(1) }, amount(0, 900_000)),
  ];
  expect(decideReservation(levels, amount(10, 100_001))).toEqual({
    kind: "exceeded",
    level: "day",
    unit: "usd",
    limit: 1_000_000,
    used: 900_000,
    asked: 100_001,
  });
});

test("a dollar budget refuses what has no known price; a token budget does not care", () => {
  const dollars = { microUsd: 10 ** 6 };
  expect(decideReservation([level("session", dollars)], amount(1, null))).toEqual({
    kind: "unpriced",
    level: "session",
  });
  expect(decideReservation([level("day", dollars, amount(1, null))], amount(1))).toEqual({
    kind: "unpriced",
    level: "day",
  });
  expect(decideReservation([level("day", { tokens: 5 })], amount(1, null))).toEqual({ kind: "granted" });
});

test("used and reserved never pass the limit, whatever is asked", () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  let used = noAmount;
  let reserved = noAmount;
  let overruns = 0;
  for (let count = 0; count < 5000; count += 1) {
    const asked = amount(Math.floor(random() * 50), Math.floor(random() * 5000));
    const budget = { tokens: 10_000, microUsd: 900_000 };
    const { kind } = decideReservation([level("session", budget, used, reserved)], asked);
    if (kind === "granted") reserved = add(reserved, asked);
    if (kind === "wait" || random() < 0.1) [used, reserved] = [add(used, reserved), noAmount];
    const total = add(used, reserved);
    overruns += total.tokens > 10_000 || (total.microUsd ?? 0) > 900_000 ? 1 : 0;
  }
  expect(overruns, `seed ${seed}`).toBe(0);
});

test("only whole, safe amounts get near a budget", () => {
  for (const wrong of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    expect(() => decideReservation([], amount(wrong))).toThrow("is not an amount of");
    expect(() => decideReservation([level("day", { tokens: wrong })], noAmount)).toThrow(
      "is not an amount of",
    );
    expect(() => decideReservation([level("day", {}, amount(0, wrong))], noAmount)).toThrow(
      "is not an amount of",
    );
  }
  expect(() => add(amount(Number.MAX_SAFE_INTEGER), amount(1))).toThrow("is not an amount of");
  for (const wrong of [-1, Number.NaN, 10 ** 10]) expect(() => usdToMicros(wrong)).toThrow("dollars");
});

test("dollars become micro-dollars and back without drift", () => {
  expect([0.1 + 0.2, 1.005, 0.000001, 12].map(usdToMicros)).toEqual([300_000, 1_005_000, 1, 12_000_000]);
  for (let micros = 0; micros < 100_000; micros += 7) expect(usdToMicros(microsToUsd(micros))).toBe(micros);
});

test("a sum with an unknown price has an unknown price", () => {
  expect(add(amount(1, 2), amount(3, 4))).toEqual(amount(4, 6));
  expect(add(amount(1, 2), amount(3, null))).toEqual(amount(4, null));
});
