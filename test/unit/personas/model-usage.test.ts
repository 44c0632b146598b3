import { expect, test } from "vitest";
import { readUsage } from "../../../src/personas/model/usage.ts";

interface Reported {
  readonly prompt: number;
  readonly cached?: number;
  readonly completion: number;
  readonly reasoning?: number;
  readonly raw?: Readonly<Record<string, number>>;
  readonly text?: string;
  /** The least input that the call can have. */
  readonly least?: number;
}

const read = ({ prompt, cached = 0, completion, reasoning = 0, raw, text = "hi", least = 1 }: Reported) => {
  const known = readUsage(
    {
      content: [{ type: "text", text }],
      usage: {
        inputTokens: { total: prompt, noCache: undefined, cacheRead: cached, cacheWrite: undefined },
        outputTokens: { total: completion, text: undefined, reasoning },
        ...(raw !== undefined && { raw }),
      },
    },
    least,
  );
  return known && { input: known.inputTokens, output: known.outputTokens };
};

test.each<readonly [string, Reported, { input: number; output: number }]>([
  [
    "thoughts beside the answer, more than it",
    { prompt: 100, completion: 50, reasoning: 300, raw: { total_tokens: 450 } },
    { input: 100, output: 350 },
  ],
  [
    "thoughts beside the answer, fewer than it",
    { prompt: 100, completion: 500, reasoning: 300, raw: { total_tokens: 900 } },
    { input: 100, output: 800 },
  ],
  [
    "thoughts that only the sum has",
    { prompt: 100, completion: 50, raw: { total_tokens: 1150 } },
    { input: 100, output: 1050 },
  ],
  [
    "a cache beside the prompt, more than it",
    { prompt: 200, cached: 1000, completion: 20, raw: { total_tokens: 1220 } },
    { input: 1200, output: 20 },
  ],
  [
    "a cache beside the prompt, less than it",
    { prompt: 200, cached: 100, completion: 20, raw: { total_tokens: 320 } },
    { input: 300, output: 20 },
  ],
  [
    "Google's word for the sum",
    { prompt: 9, completion: 1, raw: { totalTokenCount: 15 } },
    { input: 9, output: 6 },
  ],
  [
    "thoughts rounded up beyond the output, with a sum that has them inside",
    { prompt: 100, completion: 60, reasoning: 64, raw: { total_tokens: 160 } },
    { input: 100, output: 60 },
  ],
  [
    "thoughts and a cache, both beside",
    { prompt: 2000, cached: 1000, completion: 400, reasoning: 300, raw: { total_tokens: 3700 } },
    { input: 3000, output: 700 },
  ],
  [
    "thoughts or a cache, where the sum does not say which, as the dearer",
    { prompt: 2000, cached: 300, completion: 400, reasoning: 300, raw: { total_tokens: 2700 } },
    { input: 2000, output: 700 },
  ],
  [
    "a cache that is larger than the prompt, whatever the sum says",
    { prompt: 100, cached: 5000, completion: 50, raw: { total_tokens: 150 } },
    { input: 5100, output: 50 },
  ],
  ["a sum that is right", { prompt: 9, completion: 1, raw: { total_tokens: 10 } }, { input: 9, output: 1 }],
  [
    "a sum that is too small",
    { prompt: 9, completion: 1, raw: { total_tokens: 1 } },
    { input: 9, output: 1 },
  ],
  [
    "a sum that is no count",
    { prompt: 9, completion: 1, raw: { total_tokens: 10.5 } },
    { input: 9, output: 1 },
  ],
])("%s is counted", (_, reported, expected) => {
  expect(read(reported)).toEqual(expected);
});

test("a sum beyond all reason is no report at all", () => {
  expect(read({ prompt: 9, completion: 1, raw: { total_tokens: 1e15 } })).toBeNull();
});

test("an answer that says nothing may have no output, but never no input", () => {
  expect(read({ prompt: 100, completion: 0, text: "" })).toEqual({ input: 100, output: 0 });
  expect(read({ prompt: 0, completion: 0, text: "" })).toBeNull();
});

test("thoughts are never more than the output that they are part of", () => {
  const usage = {
    inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 60, text: 0, reasoning: 64 },
    raw: { total_tokens: 160 },
  };
  expect(readUsage({ content: [], usage }, 1)).toMatchObject({ outputTokens: 60, reasoningTokens: 60 });
});

test("an input of less than the call can have is no report", () => {
  expect(read({ prompt: 99, completion: 5, least: 100 })).toBeNull();
  expect(read({ prompt: 100, completion: 5, least: 100 })).toEqual({ input: 100, output: 5 });
});
