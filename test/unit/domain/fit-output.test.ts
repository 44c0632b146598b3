import { expect, test } from "vitest";
import { type Amount, type BudgetLevel, decideReservation } from "../../../src/domain/budget.ts";
import { fitReservation, type OutputRange, withMoreRoom } from "../../../src/domain/fit-output.ts";
import { seededRandom } from "./seeded-random.ts";

const nothing: Amount = { tokens: 0, microUsd: 0 };

/** A call with this input, at 3 micro-dollars a token in and 15 out. */
function call(input: number, most: number, least: number) {
  const amount = (output: number): Amount => ({ tokens: input + output, microUsd: input * 3 + output * 15 });
  const range: OutputRange = { most, least, atLeast: amount(least) };
  return { asked: amount(most), range, amount };
}

const level = (budget: BudgetLevel["budget"], used = nothing, reserved = nothing): BudgetLevel => ({
  level: "session",
  budget,
  ledger: { used, reserved },
});

test("a budget of 9,000 tokens buys an answer of what is left", () => {
  const { asked, range, amount } = call(3_000, 8_192, 1_024);
  const decision = fitReservation([level({ tokens: 9_000 })], asked, range);
  expect(decision).toMatchObject({ kind: "granted", asked: amount(6_000), shrunk: { output: 6_000 } });
});

test("a call is refused when less than the useful minimum is left", () => {
  const { asked, range } = call(3_000, 8_192, 1_024);
  expect(fitReservation([level({ tokens: 4_023 })], asked, range)).toMatchObject({ kind: "exceeded" });
  expect(fitReservation([level({ tokens: 4_024 })], asked, range)).toMatchObject({
    shrunk: { output: 1_024 },
  });
});

test("a call that only open reservations hold up waits and is not shrunk", () => {
  const { asked, range, amount } = call(100, 2_000, 500);
  const held = [level({ tokens: 3_000 }, nothing, amount(2_000))];
  expect(fitReservation(held, asked, range)).toEqual({ kind: "wait", level: "session" });
  // The whole does not fit, and what fits is reserved by others for now.
  const tight = [level({ tokens: 1_500 }, nothing, amount(500))];
  expect(fitReservation(tight, asked, range)).toEqual({ kind: "wait", level: "session" });
});

test("a call whose answer was cut asks for more than it had", () => {
  const { asked, range, amount } = call(100, 8_000, 1_024);
  const spend = { atMost: asked, output: range };
  expect(withMoreRoom(spend, undefined)).toBe(spend);
  expect(withMoreRoom(spend, 2_000).output).toEqual({ most: 8_000, least: 3_024, atLeast: amount(3_024) });
  expect(withMoreRoom(spend, 7_900).output).toEqual({ most: 8_000, least: 8_000, atLeast: asked });
});

test("over random budgets, a shrunk call is the largest that fits, and nothing is granted that does not", () => {
  const random = seededRandom(19);
  const pick = (most: number): number => Math.floor(random() * most);
  const seen = { granted: 0, shrunk: 0, refused: 0, wait: 0 };
  for (let trial = 0; trial < 3_000; trial += 1) {
    const least = 1 + pick(1_000);
    const most = least + pick(9_000);
    const { asked, range, amount } = call(pick(5_000), most, least);
    const levels = Array.from({ length: 1 + pick(3) }, () =>
      level(
        {
          ...(random() < 0.7 && { tokens: pick(20_000) }),
          ...(random() < 0.5 && { microUsd: pick(200_000) }),
        },
        random() < 0.5 ? amount(pick(2_000)) : nothing,
        random() < 0.3 ? amount(pick(2_000)) : nothing,
      ),
    );
    const decision = fitReservation(levels, asked, range);
    const fits = (output: number): boolean => decideReservation(levels, amount(output)).kind === "granted";
    const mayEverFit = (output: number): boolean =>
      decideReservation(levels, amount(output)).kind !== "exceeded";
    const output = decision.kind === "granted" ? (decision.shrunk?.output ?? most) : undefined;
    const isRight = {
      granted: () => fits(most),
      shrunk: () => fits(output ?? 0) && !mayEverFit((output ?? 0) + 1) && (output ?? 0) >= least,
      wait: () => mayEverFit(least) && !fits(most),
      refused: () => !mayEverFit(least),
    };
    const kind =
      decision.kind === "wait"
        ? "wait"
        : output === undefined
          ? "refused"
          : output === most
            ? "granted"
            : "shrunk";
    expect.soft(isRight[kind](), `${kind} in trial ${trial}`).toBe(true);
    expect
      .soft("asked" in decision && output !== undefined ? decision.asked : null)
      .toEqual(output === undefined ? null : amount(output));
    seen[kind] += 1;
  }
  for (const [kind, times] of Object.entries(seen)) expect(times, kind).toBeGreaterThan(50);
});
