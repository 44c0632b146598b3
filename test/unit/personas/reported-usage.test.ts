import { expect, test } from "vitest";
import { ReportedUsage } from "../../../src/personas/model/reported-usage.ts";
import type { StreamPart } from "../../../src/personas/model/sdk-types.ts";

const raw = (rawValue: unknown): StreamPart => ({ type: "raw", rawValue });
const text = (delta: string): StreamPart => ({ type: "text-delta", id: "0", delta });
const thought: StreamPart = { type: "reasoning-start", id: "1" };

const started = raw({
  type: "message_start",
  message: {
    usage: {
      input_tokens: 200,
      cache_read_input_tokens: 1000,
      cache_creation_input_tokens: 30,
      output_tokens: 1,
    },
  },
});
const ofAnthropic = { inputTokens: 1230, cachedInputTokens: 1000, cacheWriteTokens: 30, reasoningTokens: 0 };

const reported = (...parts: readonly StreamPart[]) => {
  const usage = new ReportedUsage();
  for (const part of parts) usage.add(part);
  return usage.read(1);
};

test.each<[string, readonly StreamPart[], object | undefined]>([
  ["nothing", [raw({ choices: [{ delta: {} }] }), text("Hello")], undefined],
  [
    "Anthropic's input, and an output of what arrived",
    [started, text("x".repeat(400))],
    { ...ofAnthropic, outputTokens: 100 },
  ],
  [
    "Anthropic's whole answer",
    [
      started,
      thought,
      text("x"),
      raw({ type: "message_delta", usage: { output_tokens: 70, input_tokens: null } }),
    ],
    { ...ofAnthropic, outputTokens: 70 },
  ],
  ["thoughts of Anthropic's that no report counts yet", [started, thought, text("x")], undefined],
  [
    "Google, which counts with every part",
    [
      raw({
        usageMetadata: {
          promptTokenCount: 900,
          cachedContentTokenCount: 500,
          candidatesTokenCount: 3,
          thoughtsTokenCount: 20,
        },
      }),
      text("Hello"),
    ],
    { inputTokens: 900, cachedInputTokens: 500, cacheWriteTokens: 0, outputTokens: 23, reasoningTokens: 20 },
  ],
  [
    "a server of chat completions that counts with every part",
    [
      raw({ usage: { prompt_tokens: 40, completion_tokens: 1 } }),
      text("Hello"),
      raw({
        usage: { prompt_tokens: 40, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 16 } },
      }),
    ],
    { inputTokens: 40, cachedInputTokens: 16, cacheWriteTokens: 0, outputTokens: 2, reasoningTokens: 0 },
  ],
  [
    "the failed response of OpenAI",
    [
      text("Hello"),
      raw({
        type: "response.failed",
        response: {
          usage: { input_tokens: 50, output_tokens: 9, output_tokens_details: { reasoning_tokens: 4 } },
        },
      }),
    ],
    { inputTokens: 50, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 9, reasoningTokens: 4 },
  ],
  ["a text where a count belongs", [raw({ usage: { prompt_tokens: "many" } }), text("Hello")], undefined],
])("of a stream that breaks is booked what was reported: %s", (_, parts, expected) => {
  expect(reported(...parts)).toEqual(expected);
});
