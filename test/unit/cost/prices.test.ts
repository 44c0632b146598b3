import { describe, expect, test } from "vitest";
import { spentOn, worstCase } from "../../../src/cost/model-price.ts";
import { Prices } from "../../../src/cost/prices.ts";
import { ConfigInvalid } from "../../../src/domain/errors.ts";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import { noUsage, type TokenUsage } from "../../../src/domain/usage.ts";

const usage = (over: Partial<TokenUsage>): TokenUsage => ({ ...noUsage, ...over });
const prices = new Prices(
  { "openai-compatible/llama": { input: 0.2, cached: 0.05, cacheWrite: 0.3, output: 0.6 } },
  { clock: new ManualClock(Date.UTC(2026, 10, 15)) },
);

async function costOf(model: string, used: TokenUsage): Promise<number | null> {
  return spentOn(await prices.of(model), used).costMicroUsd;
}

describe("published prices", () => {
  test("are known to the micro-dollar, without the crumbs of binary fractions", async () => {
    // 1,000 x $3 + 100 x $15 per million.
    const used = usage({ inputTokens: 1_000, outputTokens: 100 });
    expect(await costOf("anthropic/claude-sonnet-4-5", used)).toBe(4_500);
    expect(await costOf("openai/gpt-5", used)).toBe(2_250);
    expect(await costOf("google/gemini-2.5-pro", used)).toBe(2_250);
  });

  test("count cached tokens once, at their own price", async () => {
    const used = usage({ inputTokens: 1_000, cachedInputTokens: 900, outputTokens: 0 });
    // 100 x $3 + 900 x $0.30, and not 1,000 x $3 + 900 x $0.30.
    expect(await costOf("anthropic/claude-sonnet-4-5", used)).toBe(570);
    expect(await costOf("openai/gpt-5", used)).toBe(125 + Math.ceil(112.5));
  });

  test("count tokens written to the cache once, at their own price", async () => {
    const used = usage({ inputTokens: 1_000, cacheWriteTokens: 800 });
    expect(await costOf("anthropic/claude-sonnet-4-5", used)).toBe(200 * 3 + 800 * 3.75);
  });

  test("count reasoning as part of the output", async () => {
    const thought = usage({ outputTokens: 100, reasoningTokens: 90 });
    expect(await costOf("openai/gpt-5", thought)).toBe(1_000);
  });

  test("take cached tokens that were reported beside the input for what they are", async () => {
    const beside = usage({ inputTokens: 100, cachedInputTokens: 900 });
    // 100 at $3 and 900 at $0.30 for a million.
    expect(await costOf("anthropic/claude-sonnet-4-5", beside)).toBe(570);
  });

  test("round up, so that a bill is never larger than its ledger", async () => {
    expect(await costOf("openai/gpt-5", usage({ inputTokens: 1 }))).toBe(2);
    expect(await costOf("openai/gpt-5", noUsage)).toBe(0);
  });

  test.each([
    "anthropic/claude-imaginary-9",
    // Served by another provider, at its own prices.
    "openai-compatible/gpt-5",
    "azurish/gpt-5",
    "gpt-5",
    "openai/",
    "/gpt-5",
    "",
    "__proto__",
    "constructor/x",
  ])("are unknown for %j, and say so", async (model) => {
    const price = await prices.of(model);
    expect(price).toBeNull();
    expect(spentOn(price, usage({ inputTokens: 10 }))).toEqual({
      usage: usage({ inputTokens: 10 }),
      costMicroUsd: null,
    });
    expect(worstCase(price, 10, 20)).toEqual({ tokens: 30, microUsd: null });
  });
});

describe("the user's own prices", () => {
  test("price a model without published prices, each kind of token apart", async () => {
    const used = usage({
      inputTokens: 1_000,
      cachedInputTokens: 500,
      cacheWriteTokens: 100,
      outputTokens: 50,
      reasoningTokens: 40,
    });
    expect(await costOf("openai-compatible/llama", used)).toBe(400 * 0.2 + 500 * 0.05 + 100 * 0.3 + 50 * 0.6);
  });

  test("win over the published ones", async () => {
    const own = new Prices({ "openai/gpt-5": { input: 1, output: 1 } });
    expect(
      spentOn(await own.of("openai/gpt-5"), usage({ inputTokens: 7, outputTokens: 3 })).costMicroUsd,
    ).toBe(10);
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e12])("of %d are refused", (input) => {
    expect(() => new Prices({ m: { input, output: 1 } })).toThrow(ConfigInvalid);
    expect(() => new Prices({ m: { input: "3" as never, output: "x" as never } })).toThrow(ConfigInvalid);
  });
});

test("the simulated model has a price, and says that it is simulated", async () => {
  for (const model of ["simulated", "simulated/fast"]) {
    const price = await prices.of(model);
    expect(price?.simulated).toBe(true);
    expect(price?.cost(usage({ inputTokens: 1_000_000, outputTokens: 1_000_000 }))).toBe(18_000_000);
  }
  expect((await prices.of("anthropic/claude-sonnet-4-5"))?.simulated).toBe(false);
});

describe("the worst case", () => {
  test("is every token at its dearest rate, and no possible bill is above it", async () => {
    for (const model of [
      "anthropic/claude-sonnet-4-5",
      "openai/gpt-5",
      "openai-compatible/llama",
      "simulated",
    ]) {
      const price = await prices.of(model);
      const most = worstCase(price, 1_000, 400).microUsd ?? 0;
      for (const cachedInputTokens of [0, 300, 1_000]) {
        for (const cacheWriteTokens of [0, 1_000 - cachedInputTokens]) {
          for (const reasoningTokens of [0, 400]) {
            const used = usage({
              inputTokens: 1_000,
              cachedInputTokens,
              cacheWriteTokens,
              outputTokens: 400,
              reasoningTokens,
            });
            expect([model, (price?.cost(used) ?? Infinity) <= most]).toEqual([model, true]);
          }
        }
      }
    }
  });

  test("is in tokens what was counted and what was allowed", async () => {
    expect(await prices.worstCase("anthropic/claude-sonnet-4-5", 1_000, 400)).toEqual({
      tokens: 1_400,
      microUsd: 1_000 * 3.75 + 400 * 15,
    });
  });

  test("grows with the price of long prompts", async () => {
    const short = await prices.worstCase("anthropic/claude-sonnet-4-5", 200_000, 0);
    const long = await prices.worstCase("anthropic/claude-sonnet-4-5", 400_000, 0);
    expect(long.microUsd ?? 0).toBeGreaterThan((short.microUsd ?? 0) * 2);
  });
});

describe("the cost of a call", () => {
  test("says what the cache saved, and when it cost more than it saved", async () => {
    const price = await prices.of("anthropic/claude-sonnet-4-5");
    expect(spentOn(price, usage({ inputTokens: 1_000, cachedInputTokens: 900 })).cacheSavedMicroUsd).toBe(
      900 * 3 - 900 * 0.3,
    );
    expect(spentOn(price, usage({ inputTokens: 1_000, cacheWriteTokens: 1_000 })).cacheSavedMicroUsd).toBe(
      -750,
    );
    expect(spentOn(price, usage({ inputTokens: 1_000 })).cacheSavedMicroUsd).toBe(0);
  });

  test("is unknown when the usage is missing or invalid", async () => {
    const price = await prices.of("openai/gpt-5");
    const unknown = { usage: null, costMicroUsd: null };
    expect(spentOn(price, null)).toEqual(unknown);
    for (const wrong of [Number.NaN, -1, 0.5, 1e300, undefined as never, "9" as never])
      expect(spentOn(price, usage({ outputTokens: wrong }))).toEqual(unknown);
  });
});
