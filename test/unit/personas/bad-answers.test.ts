import { afterEach, describe, expect, test } from "vitest";
import { noUsage } from "../../../src/domain/usage.ts";
import { type DurableModelOptions, durableModel } from "../../../src/personas/model/durable-model.ts";
import type { GenerateResult, Model } from "../../../src/personas/model/sdk-types.ts";
import { outcomeOfCall } from "../../../src/run/circuit-breaker.ts";
import { classifyError } from "../../../src/run/failure/classify-error.ts";
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

  test.each([true, false])(
    "reports the body's own text when it is not an answer (streamed: %s)",
    async (streamAlways) => {
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
    },
  );
});

describe("an error that a message names, with status 200", () => {
  const compatible = "openai-compatible/llama-3.3-70b";
  const [limited, wrongName] = [
    { category: "RATE_LIMIT", outage: true },
    { category: "API_ERROR", recoverable: false },
  ];
  const tooLong = { category: "RESOURCE", code: "context_length_exceeded", recoverable: true };
  const wrongKey = { category: "AUTH", recoverable: false };
  const busy = { category: "API_ERROR", code: "529", outage: true };
  const invalid = "invalid_request_error";

  const named: readonly (readonly [object, object])[] = [
    [{ code: "rate_limit_exceeded", type: "rate_limit_error", message: "Slow down." }, limited],
    [{ type: "rate_limit_error", message: "Slow down." }, limited],
    [{ code: null, type: "tokens", message: "Rate limit reached for x: too much." }, limited],
    [{ type: "overloaded_error", message: "Overloaded" }, busy],
    [{ code: "model_not_found", type: invalid, message: "The model `x` does not exist" }, wrongName],
    [{ type: "NotFoundError", message: "No x here." }, wrongName],
    [{ code: "context_length_exceeded", type: invalid, message: "Too long by far." }, tooLong],
    [{ message: "This model's maximum context length is 4096 tokens." }, tooLong],
    [
      {
        message:
          "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
      },
      tooLong,
    ],
    [{ code: "invalid_api_key", type: invalid, message: "No." }, wrongKey],
    [{ type: "authentication_error", message: "No." }, wrongKey],
    [{ type: "permission_error", message: "No." }, wrongKey],
    [
      { type: invalid, message: "Unknown parameter." },
      { category: "API_ERROR", code: "400", outage: false },
    ],
    [
      { code: "content_filter", message: "The prompt was filtered." },
      { category: "API_ERROR", code: "400", outage: false },
    ],
    [
      { type: "server_error", message: "It broke." },
      { category: "API_ERROR", code: "500", outage: true },
    ],
  ];

  const asJson = (body: unknown): Reaction => ({
    fault: "say",
    body: JSON.stringify(body),
    type: "application/json",
  });

  test.each(named)("%j is what it says, in a stream and in place of an answer", async (error, expected) => {
    const { message } = error as { message: string };
    const ways = await Promise.all([
      outcomeOn(compatible, { fault: "say", body: event({ error }) }),
      outcomeOn(compatible, asJson({ error })),
      outcomeOn(compatible, asJson({ error }), { streamAlways: false }),
      outcomeOn(compatible, asJson({ object: "error", ...error })),
      outcomeOn("anthropic/claude-sonnet-4-5", asJson({ type: "error", error })),
    ]);
    for (const { failure, outcome } of ways) {
      expect(failure).toMatchObject(expected);
      expect(`${failure.message} ${failure.details}`).toContain(message);
      const known = failure.outage ? "outage" : "success";
      expect(outcome.kind).toBe(failure.category === "RATE_LIMIT" ? "rate-limit" : known);
    }
  });

  test("Google's word for a rate limit is one", async () => {
    const error = { status: "RESOURCE_EXHAUSTED", message: "Slow down." };
    expect((await outcomeOn("google/gemini-2.5-pro", asJson({ error }))).failure).toMatchObject(limited);
  });

  test.each([true, false])("a plain-text body is kept in the error (streamed: %s)", async (streamAlways) => {
    const said = async (error: string) =>
      (await outcomeOn(compatible, asJson({ error }), { streamAlways })).failure;
    const loading = await said("The model is being loaded");
    expect(loading).toMatchObject({ category: "API_ERROR", code: "502", outage: true });
    expect(loading.message).toContain("The model is being loaded");
    expect(await said("model 'x' not found, try pulling it first")).toMatchObject(wrongName);
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
    "whose arguments cannot be sent again",
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
