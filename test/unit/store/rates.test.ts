import { expect, test } from "vitest";
import { decideRate, rateOf } from "../../../src/store/decisions/rates.ts";

const now = 1_000_000;
const call = (ago: number, tokens = 10, tookMs = 100) => ({
  at: now - ago,
  endedAt: now - ago + tookMs,
  tokens,
});

test("the smaller of two limits counts, each for itself", () => {
  const rates = { acme: { requestsPerMinute: 5, tokensPerMinute: 100 } };
  const more = { acme: { requestsPerMinute: 9, tokensPerMinute: 50 }, other: { requestsPerMinute: 1 } };
  expect(rateOf("acme/large", rates, more)).toEqual({
    provider: "acme",
    requestsPerMinute: 5,
    tokensPerMinute: 50,
  });
  expect(rateOf("acme/large", undefined, more)).toMatchObject({ requestsPerMinute: 9 });
  expect(rateOf("simulated", { simulated: { requestsPerMinute: 1 } })).toEqual({
    provider: "simulated",
    requestsPerMinute: 1,
  });
});

test("a model without a limit, an agent and a name of every object have none", () => {
  const rates = { acme: { requestsPerMinute: 5 }, empty: {} };
  for (const model of ["other/large", "acme", "claude", "empty/x", "constructor/x", "/acme"])
    expect(rateOf(model, rates, undefined)).toBeUndefined();
});

test("a call leaves the minute sixty seconds after its end, or after five seconds of being sent", () => {
  const rate = { provider: "acme", requestsPerMinute: 1 };
  const until = (one: ReturnType<typeof call> | { at: number; endedAt: null; tokens: number }) =>
    decideRate(rate, [one], 1, now);
  expect(until(call(10_000, 1, 300))).toMatchObject({ kind: "later", until: now - 10_000 + 300 + 60_000 });
  expect(until(call(10_000, 1, 9_000))).toMatchObject({ until: now - 10_000 + 5_000 + 60_000 });
  expect(until({ at: now - 10_000, endedAt: null, tokens: 1 })).toMatchObject({ until: now + 55_000 });
  expect(until(call(60_100))).toEqual({ kind: "granted" });
});

test("the limit that takes longer says until when", () => {
  const rate = { provider: "acme", requestsPerMinute: 2, tokensPerMinute: 100 };
  const calls = [call(50_000, 5), call(20_000, 95)];
  expect(decideRate(rate, calls, 50, now)).toMatchObject({ unit: "tokens", limit: 100, until: now + 40_100 });
  expect(decideRate(rate, calls, 0, now)).toMatchObject({ unit: "requests", limit: 2, until: now + 10_100 });
});

test("calls count in the order in which they leave, in whatever order they are loaded", () => {
  const rate = { provider: "acme", requestsPerMinute: 2 };
  const calls = [call(10_000), call(40_000), call(30_000)];
  expect(decideRate(rate, calls, 1, now)).toMatchObject({ until: now + 30_100 });
});
