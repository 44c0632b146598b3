import { afterEach, describe, expect, test } from "vitest";
import { noUsage } from "../../../src/domain/usage.ts";
import { outcomeOfCall } from "../../../src/execution/circuit-breaker.ts";
import { classifyError } from "../../../src/execution/failure/classify-error.ts";
import { type DurableModelOptions, durableModel } from "../../../src/models/durable-model.ts";
import { withReadableUsage } from "../../../src/models/readable-usage.ts";
import type { GenerateResult, Model } from "../../../src/models/sdk-types.ts";
import { event } from "../../support/loopback-model-turn.ts";
import type { Reaction } from "../../support/loopback-models.ts";
import { RecordingSteps } from "../../support/recording-steps.ts";
import { closeServers, question, type WireModel, wire, wireModels } from "./wire-place.ts";

afterEach(closeServers);

const thrownBy = (model: Model): Promise<unknown> =>
  Promise.resolve(model.doGenerate(question())).then(
    ({ content }) => expect.fail(`it answered ${JSON.stringify(content)}`),
    (error: unknown) => error,
  );

async function outcomeOn(name: WireModel, reaction: Reaction, more: Partial<DurableModelOptions> = {}) {
  const { model, steps } = await wire(name, [reaction], more);
  const failure = classifyError(await thrownBy(model));
  return { failure, outcome: outcomeOfCall(failure), usage: steps.settled[0]?.spent.usage };
}

describe.each(wireModels)("%s", (name) => {
  test("an empty answer is asked for again, and says nothing against the service", async () => {
    const { failure, outcome } = await outcomeOn(name, { text: "" });
    expect(failure).toMatchObject({ category: "API_ERROR", outage: true, recoverable: true });
    expect(outcome).toEqual({ kind: "success" });
  });

  test("a stream that breaks off is an outage of the service", async () => {
    const { outcome } = await outcomeOn(name, { fault: "early-end" });
    expect(outcome).toEqual({ kind: "outage" });
  });
});

describe("a compatible server that reports an error with 200", () => {
  const compatible = "openai-compatible/llama-3.3-70b";
  const slowDown = { message: "Rate limit exceeded", type: "requests", code: 429 };

  test.each<readonly [string, object]>([
    ["a status as its code", slowDown],
    ["a status as text", { ...slowDown, code: "429" }],
  ])("is a rate limit in the stream by %s", async (_, error) => {
    const { failure, outcome, usage } = await outcomeOn(compatible, { fault: "say", body: event({ error }) });
    expect(failure).toMatchObject({ category: "RATE_LIMIT", code: "429", outage: true });
    expect(outcome.kind).toBe("rate-limit");
    expect(usage).toEqual(noUsage);
  });

  test("is known by the status in the stream, also when it is a wrong key or the service's trouble", async () => {
    const failing = async (code: unknown) => {
      const body = event({ error: { message: "no", code } });
      return (await outcomeOn(compatible, { fault: "say", body })).failure;
    };
    expect(await failing(401)).toMatchObject({ category: "AUTH" });
    expect(await failing(502)).toMatchObject({ category: "API_ERROR", code: "502", outage: true });
    expect(await failing(1302)).toMatchObject({ category: "API_ERROR", code: "no_answer", outage: true });
  });

  test.each([true, false])("keeps its words in place of an answer (streamed: %s)", async (streamAlways) => {
    const say = {
      fault: "say",
      body: JSON.stringify({ error: slowDown }),
      type: "application/json",
    } as const;
    const limited = await outcomeOn(compatible, say, { streamAlways });
    expect(limited.failure).toMatchObject({ category: "RATE_LIMIT", code: "429" });
    expect(limited.failure.message).toContain("Rate limit exceeded");
    const body = JSON.stringify({ error: { message: "The model is being loaded" } });
    const loading = await outcomeOn(compatible, { ...say, body }, { streamAlways });
    expect(loading.failure).toMatchObject({ category: "API_ERROR", outage: true });
    expect(loading.failure.message).toContain("The model is being loaded");
    expect(loading.outcome).toEqual({ kind: "outage" });
  });
});

describe("a usage that cannot be read does not cost the answer", () => {
  const choice = { index: 0, finish_reason: "stop" };
  const chunks = (usage: unknown) => [
    event({ choices: [{ ...choice, delta: { content: "Hel\u00e9" }, finish_reason: null }] }),
    event({ choices: [{ ...choice, delta: { content: 'said "usage"' } }], usage }),
    "data: [DONE]\n\n",
  ];
  const whole = (usage: unknown) =>
    JSON.stringify({ choices: [{ ...choice, message: { content: 'Hel\u00e9said "usage"' } }], usage });

  test.each<readonly [string, unknown]>([
    ["counts as text", { prompt_tokens: "200", completion_tokens: "5", total_tokens: "205" }],
    ["no object", "not available"],
    ["details that are none", { prompt_tokens: 200, completion_tokens: 5, prompt_tokens_details: [] }],
    ["counts in details as text", { completion_tokens_details: { reasoning_tokens: "3" } }],
  ])("%s", async (_, usage) => {
    for (const streamAlways of [true, false]) {
      const body = streamAlways ? chunks(usage).join("") : whole(usage);
      const type = streamAlways ? "text/event-stream" : "application/json";
      const { model, steps } = await wire("openai-compatible/llama-3.3-70b", [{ fault: "say", body, type }], {
        streamAlways,
      });
      const { content } = await model.doGenerate(question());
      expect(content).toEqual([{ type: "text", text: 'Hel\u00e9said "usage"' }]);
      expect(steps.settled[0]?.spent.usage).toBeNull();
    }
  });

  test("and one that can be read is kept, in whatever pieces it comes", async () => {
    const text = chunks({ prompt_tokens: 200, completion_tokens: 5, total_tokens: 205, cost: "free" }).join(
      "",
    );
    const bytes = Buffer.from(text);
    const pieces = new Response(
      ReadableStream.from(Array.from(bytes, (byte) => Uint8Array.of(byte))) as ReadableStream<Uint8Array>,
      { headers: { "content-type": "text/event-stream" } },
    );
    const read = withReadableUsage(async () => pieces);
    expect(await (await read("http://127.0.0.1")).text()).toBe(text);
  });
});

const deep = `${"[".repeat(200)}${"]".repeat(200)}`;

test.each<readonly [string, Pick<GenerateResult, "content" | "finishReason">, string]>([
  [
    "that ended with an error",
    { content: [{ type: "text", text: "half" }], finishReason: { unified: "error", raw: "upstream" } },
    'it ended with "error" (upstream)',
  ],
  [
    "whose arguments nobody could pass on",
    {
      content: [{ type: "tool-call", toolCallId: "1", toolName: "greet", input: deep }],
      finishReason: { unified: "tool-calls", raw: undefined },
    },
    "nested deeper",
  ],
])("an answer %s is asked for again, and says nothing against the service", async (_, answer, words) => {
  const inner: Model = {
    specificationVersion: "v4",
    provider: "own.chat",
    modelId: "m-1",
    supportedUrls: {},
    doStream: () => Promise.reject(new Error("not asked")),
    doGenerate: async () => ({
      ...answer,
      warnings: [],
      usage: {
        inputTokens: { total: 9, noCache: 9, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 9, text: 9, reasoning: undefined },
      },
    }),
  };
  const error = await thrownBy(durableModel(inner, { runStep: new RecordingSteps().runStep }));
  const failure = classifyError(error);
  expect(failure).toMatchObject({ category: "API_ERROR", outage: true, recoverable: true });
  expect(failure.message).toContain(words);
  expect(outcomeOfCall(failure)).toEqual({ kind: "success" });
});
