import { afterEach, describe, expect, test } from "vitest";
import { withReadableUsage } from "../../../src/personas/model/usage.ts";
import { event } from "../../support/loopback-model-turn.ts";
import { closeServers, question, type WireModel, wire } from "./wire-place.ts";

afterEach(closeServers);

const said = 'Hel\u00e9 "usage"';

type Say = (input: unknown, output: unknown) => readonly string[];

interface Protocol {
  readonly streamed: Say;
  readonly whole: (input: unknown, output: unknown) => unknown;
}

const responses = (input: unknown, output: unknown) => ({
  usage: { input_tokens: input, output_tokens: output, output_tokens_details: { reasoning_tokens: "0" } },
});
const metadata = (input: unknown, output: unknown) => ({
  usageMetadata: { promptTokenCount: input, candidatesTokenCount: output },
});
const chatUsage = (input: unknown, output: unknown) => ({
  usage: { prompt_tokens: input, completion_tokens: output, audio_tokens: "none" },
});
const message = { id: "m", type: "message", role: "assistant", model: "c" };
const item = { type: "message", id: "i", role: "assistant" };
const content = [{ type: "output_text", text: said, annotations: [] }];
const candidate = { content: { parts: [{ text: said }], role: "model" }, finishReason: "STOP" };
const choice = { index: 0, finish_reason: "stop" };

const protocols: Readonly<Record<WireModel, Protocol>> = {
  "anthropic/claude-sonnet-4-5": {
    streamed: (input, output) => [
      event({
        type: "message_start",
        message: { ...message, content: [], usage: { input_tokens: input, output_tokens: 1 } },
      }),
      event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
      event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: said } }),
      event({ type: "content_block_stop", index: 0 }),
      event({
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: output },
      }),
      event({ type: "message_stop" }),
    ],
    whole: (input, output) => ({
      ...message,
      content: [{ type: "text", text: said }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: input, output_tokens: output },
    }),
  },
  "openai/gpt-5": {
    streamed: (input, output) => [
      event({ type: "response.created", response: { id: "r", created_at: 1, model: "gpt-5" } }),
      event({ type: "response.output_item.added", output_index: 0, item }),
      event({ type: "response.output_text.delta", item_id: "i", output_index: 0, delta: said }),
      event({ type: "response.output_item.done", output_index: 0, item }),
      event({
        type: "response.completed",
        response: { incomplete_details: null, ...responses(input, output) },
      }),
    ],
    whole: (input, output) => ({
      id: "r",
      created_at: 1,
      model: "gpt-5",
      output: [{ ...item, content }],
      incomplete_details: null,
      ...responses(input, output),
    }),
  },
  "google/gemini-2.5-pro": {
    streamed: (input, output) => [event({ candidates: [candidate], ...metadata(input, output) })],
    whole: (input, output) => ({ candidates: [candidate], ...metadata(input, output) }),
  },
  "openai-compatible/llama-3.3-70b": {
    streamed: (input, output) => [
      event({ choices: [{ ...choice, delta: { content: said }, finish_reason: null }] }),
      event({ choices: [{ ...choice, delta: {} }], ...chatUsage(input, output) }),
      "data: [DONE]\n\n",
    ],
    whole: (input, output) => ({
      choices: [{ ...choice, message: { content: said } }],
      ...chatUsage(input, output),
    }),
  },
};

async function answered(name: WireModel, streamAlways: boolean, body: string) {
  const type = streamAlways ? "text/event-stream" : "application/json";
  const { model, steps } = await wire(name, [{ fault: "say", body, type }], { streamAlways });
  const { content } = await model.doGenerate(question());
  const usage = steps.settled[0]?.spent.usage;
  return {
    text: content.flatMap((part) => (part.type === "text" ? [part.text] : [])),
    usage: usage && [usage.inputTokens, usage.outputTokens],
  };
}

describe.each(Object.entries(protocols))("%s", (name, { streamed, whole }) => {
  test.each<readonly [string, unknown, unknown, readonly number[] | null]>([
    ["counts as text are counts", "200", "5", [200, 5]],
    ["counts that are none are no report", "many", { a: 1 }, null],
    ["half a report is none", 200, "a few", null],
  ])("%s, and the answer is kept", async (_, input, output, usage) => {
    for (const streamAlways of [true, false]) {
      const body = streamAlways
        ? streamed(input, output).join("")
        : JSON.stringify(whole(input, output), null, 2);
      const found = await answered(name as WireModel, streamAlways, body);
      expect(found.text).toEqual([said]);
      expect(found.usage).toEqual(usage);
    }
  });
});

test.each<readonly [string, unknown, readonly number[] | null]>([
  ["no object", "not available", null],
  ["a list", [200, 5], null],
  [
    "details that are none",
    { prompt_tokens: 200, completion_tokens: 5, prompt_tokens_details: [], completion_tokens_details: "no" },
    [200, 5],
  ],
  ["a cost as text, which is not read", { prompt_tokens: 200, completion_tokens: 5, cost: "free" }, [200, 5]],
  ["fewer than none", { prompt_tokens: "-200", completion_tokens: 5 }, null],
])("a usage with %s does not cost the answer", async (_, usage, expected) => {
  const chunk = { choices: [{ ...choice, delta: { content: said } }], usage };
  const found = await answered("openai-compatible/llama-3.3-70b", true, event(chunk));
  expect(found.text).toEqual([said]);
  expect(found.usage).toEqual(expected);
});

test("a readable answer passes unchanged, byte by byte, however it is split", async () => {
  const text = protocols["openai-compatible/llama-3.3-70b"].streamed(200, 5).join("").replace('"none"', "0");
  const pieces = new Response(
    ReadableStream.from(Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte))),
    {
      headers: { "content-type": "text/event-stream" },
    },
  );
  const read = withReadableUsage(async () => pieces);
  expect(await (await read("http://127.0.0.1")).text()).toBe(text);
});
