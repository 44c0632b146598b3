import { expect, test } from "vitest";
import { bytesOf, countInputTokens } from "../../../src/cost/count-tokens.ts";
import { noUsage } from "../../../src/domain/usage.ts";

const usage = { ...noUsage, inputTokens: 400, cachedInputTokens: 300, outputTokens: 50, reasoningTokens: 20 };
const previous = { promptBytes: 2_000, answerBytes: 150, usage };

test("a first call counts half its bytes, and all of them where a budget must hold", () => {
  expect(countInputTokens(1_001)).toBe(501);
  expect(countInputTokens(1_001, { strict: true })).toBe(1_001);
  expect(countInputTokens(0)).toBe(0);
});

test("a later call counts what the one before really took, and the bytes that were added", () => {
  expect(countInputTokens(2_150, { previous })).toBe(450);
  expect(countInputTokens(2_250, { previous })).toBe(550);
  expect(countInputTokens(2_250, { previous, strict: true })).toBe(550);
});

test("a prompt that is shorter than what it should go on from is counted as a first one", () => {
  expect(countInputTokens(2_149, { previous })).toBe(1_075);
  expect(countInputTokens(100, { previous, strict: true })).toBe(100);
});

test("bytes are counted as they are sent, and a long run of one character costs no time", () => {
  expect(bytesOf("é😀")).toBe(6);
  const started = performance.now();
  expect(countInputTokens(bytesOf("a".repeat(5_000_000)))).toBe(2_500_000);
  expect(performance.now() - started).toBeLessThan(1_000);
});
