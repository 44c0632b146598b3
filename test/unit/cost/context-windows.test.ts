import { expect, test } from "vitest";
import { publishedWindow } from "../../../src/cost/context-windows.ts";

test.each([
  ["anthropic/claude-sonnet-4-5", 200_000],
  ["openai/gpt-4o", 128_000],
  ["google/gemini-2.5-flash", 1_048_576],
])("the context window of %s is the published one", async (model, tokens) => {
  expect(await publishedWindow(model)).toBe(tokens);
});

test.each(["openai-compatible/gpt-4o", "acme/gpt-4o", "anthropic/no-such-model", "simulated", "/", ""])(
  "a model that is not published has no context window: %j",
  async (model) => {
    expect(await publishedWindow(model)).toBeUndefined();
  },
);
