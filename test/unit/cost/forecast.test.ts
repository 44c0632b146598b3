import { describe, expect, test } from "vitest";
import { expectedAtEnd, forecast, forecastRun } from "../../../src/cost/forecast.ts";
import { noAmount } from "../../../src/domain/budget.ts";
import { amount } from "../../contract/ledger-support.ts";

const run = { phase: "build", persona: "coder", model: "m" };
const samples = (values: readonly number[], over: Partial<typeof run> = {}) =>
  values.map((tokens) => ({ ...run, ...over, spent: amount(tokens) }));

describe("the forecast of a run", () => {
  test("is the median and the ninth of ten, values that really occurred, in whatever order they come", () => {
    const history = samples([100, 30, 10, 70, 50, 20, 60, 40, 90, 80]);
    expect(forecastRun(history, run)).toEqual({ median: amount(50), p90: amount(90), samples: 10 });
    expect(forecastRun(samples([7]), run)).toEqual({ median: amount(7), p90: amount(7), samples: 1 });
    expect(forecastRun(samples([1, 9]), run)).toEqual({ median: amount(1), p90: amount(9), samples: 2 });
  });

  test("is not bent by one run that went wild", () => {
    expect(forecastRun(samples([10, 11, 12, 13, 1_000_000]), run)?.median).toEqual(amount(12));
  });

  test("takes tokens from other models when it must, but never their dollars", () => {
    const other = samples([500], { model: "dear" });
    expect(forecastRun([...samples([10]), ...other], run)?.median).toEqual(amount(10));
    expect(forecastRun(other, run)?.median).toEqual(amount(500, null));
  });

  test("does not mix phases and personas, and admits that it knows nothing", () => {
    expect(forecastRun(samples([10], { phase: "test" }), run)).toBeUndefined();
    expect(forecastRun(samples([10], { persona: "other" }), run)).toBeUndefined();
    expect(forecastRun([], run)).toBeUndefined();
  });

  test("uses the prices that are known", () => {
    const history = [...samples([10, 20]), { ...run, spent: amount(30, null) }];
    expect(forecastRun(history, run)).toMatchObject({ median: { tokens: 20, microUsd: 20 } });
  });
});

test("phases and the total are the sums of their runs, and unknown personas are named", () => {
  const tester = { phase: "test", persona: "tester", model: "m" };
  const history = [...samples([10, 20, 30]), ...samples([5], tester)];
  const planned = [run, { ...run, persona: "newcomer" }, tester];
  expect(forecast(history, planned)).toEqual({
    phases: [
      { phase: "build", median: amount(20), p90: amount(30), unknown: ["newcomer"] },
      { phase: "test", median: amount(5), p90: amount(5), unknown: [] },
    ],
    median: amount(25),
    p90: amount(35),
    unknown: ["newcomer"],
  });
  expect(forecast([], [])).toEqual({ phases: [], median: noAmount, p90: noAmount, unknown: [] });
});

test("the expected total is the usage so far plus the usual usage of the rest", () => {
  const expected = expectedAtEnd(samples([10, 20, 30]), [run], []);
  const status = { budget: {}, used: amount(100), reserved: noAmount, overrun: false };
  expect(expected({ ...status, level: "session", name: "s" })).toEqual(amount(120));
  expect(expected({ ...status, level: "phase", name: "build" })).toEqual(amount(120));
  expect(expected({ ...status, level: "phase", name: "done" })).toBeUndefined();
  expect(expected({ ...status, level: "persona", name: "coder" })).toBeUndefined();
});

test("the usage of a running persona is not expected a second time", () => {
  const status = { budget: {}, used: amount(100), reserved: noAmount, overrun: false };
  const atEnd = (used: number) => {
    const totals = [{ level: "persona" as const, name: run.persona, used: amount(used), reserved: noAmount }];
    const expected = expectedAtEnd(samples([10, 20, 30]), [run], totals);
    return expected({ ...status, level: "session", name: "s" })?.tokens;
  };
  expect([atEnd(0), atEnd(15), atEnd(500)]).toEqual([120, 105, 100]);
});

test("code is expected to ask what it asked before, of every model, and is never unknown", () => {
  const code = { phase: "build", persona: "coder" };
  const history = [
    { ...code, model: "a", spent: amount(10, 100) },
    { ...code, model: "b", spent: amount(5, 1) },
  ];
  expect(forecast(history, [code])).toMatchObject({ median: amount(15, 101), unknown: [] });
  expect(forecast([], [code])).toMatchObject({ median: noAmount, unknown: [] });
});
