import { afterEach, describe, expect, test } from "vitest";
import { noUsage, type TokenUsage } from "../../../src/domain/usage.ts";
import { ContextOverflow } from "../../../src/personas/model/provider-error.ts";
import { classifyError } from "../../../src/run/failure/classify-error.ts";
import { type ModelFault, modelKey, type Reaction } from "../../support/loopback-models.ts";
import { closeServers, question, type WireModel, wire, wireModels } from "../../unit/personas/wire-place.ts";

afterEach(closeServers);

/** A machine may be late; only where the limit is what ends the call it is short. */
const patient = { silenceMs: 8000, totalMs: 8000 };
const limitsOf: Readonly<Record<string, typeof patient>> = {
  "no answer at all": { silenceMs: 300, totalMs: 1500 },
  "a byte now and then": { silenceMs: 1000, totalMs: 1500 },
};

interface Expected {
  readonly category: string;
  readonly code?: string;
  readonly outage: boolean;
  readonly retryAfterMs?: number;
  /** The settled usage; `null` if it is unknown. */
  readonly usage: TokenUsage | null;
}

const refuse = (status: number, code: string, message: string, headers = {}): ModelFault => ({
  fault: "refuse",
  status,
  code,
  message,
  headers,
});

/** Anthropic's streams begin with the usage of the input; other streams and whole answers end with their usage. */
const atBreak = expect.toSatisfy(
  (usage: TokenUsage | null) =>
    usage === null || (usage.inputTokens === 1200 && usage.cachedInputTokens === 1000),
);

const faults: Readonly<Record<string, readonly [Reaction, Expected]>> = {
  "429 with retry-after": [
    refuse(429, "rate_limit_error", "Slow down.", { "retry-after": "7" }),
    { category: "RATE_LIMIT", code: "429", outage: true, retryAfterMs: 7000, usage: noUsage },
  ],
  "500": [
    refuse(500, "server_error", "Something broke."),
    { category: "API_ERROR", code: "500", outage: true, usage: null },
  ],
  "504 of a gateway, behind which the answer may have been made": [
    refuse(504, "timeout", "The upstream took too long."),
    { category: "TIMEOUT", code: "504", outage: true, usage: null },
  ],
  "503 with retry-after": [
    refuse(503, "unavailable", "Come back.", { "retry-after": "120" }),
    { category: "API_ERROR", code: "503", outage: true, retryAfterMs: 120_000, usage: noUsage },
  ],
  "connection reset": [
    { fault: "reset" },
    { category: "API_ERROR", code: "ECONNRESET", outage: true, usage: null },
  ],
  "half a body": [{ fault: "half" }, { category: "API_ERROR", outage: true, usage: atBreak }],
  garbage: [{ fault: "garbage" }, { category: "API_ERROR", outage: true, usage: null }],
  // OpenAI's package takes it for a refusal of the server's.
  "wrong shape": [
    { fault: "wrong-shape" },
    {
      category: "API_ERROR",
      outage: true,
      usage: expect.toSatisfy((usage) => usage === null || usage === noUsage),
    },
  ],
  "no answer at all": [
    { fault: "silence" },
    { category: "TIMEOUT", code: "TimeoutError", outage: true, usage: null },
  ],
  "a byte now and then": [
    { fault: "drip" },
    { category: "TIMEOUT", code: "TimeoutError", outage: true, usage: null },
  ],
  "an empty answer": [
    { text: "" },
    {
      category: "API_ERROR",
      outage: true,
      usage: expect.objectContaining({ inputTokens: 1200, outputTokens: 80 }),
    },
  ],
};

/** Of an answer of some fifty letters, of which the provider has counted the first token. */
const beginning = {
  inputTokens: 1200,
  cachedInputTokens: 1000,
  cacheWriteTokens: 0,
  outputTokens: 13,
  reasoningTokens: 0,
};

describe.each(wireModels)("%s", (name) => {
  const modes = [
    ["streamed", true],
    ["whole", false],
  ] as const;
  describe.each(modes)("%s", (_, streamAlways) => {
    test.each(Object.keys(faults))("%s is an error that says whether to try again", async (fault) => {
      const [reaction, expected] = faults[fault] as readonly [Reaction, Expected];
      const { error, steps } = await failing(name, reaction, streamAlways, limitsOf[fault]);
      const { usage, ...wanted } = expected;
      expect(classifyError(error)).toMatchObject({ ...wanted, recoverable: true });
      expect(steps.settled[0]?.spent.usage).toEqual(usage);
      expect(steps.records).toEqual([]);
    });
  });

  test("a stream that ends in the middle is not an answer, and is paid as far as it was reported", async () => {
    const { error, steps } = await failing(name, { fault: "early-end" }, true);
    expect(steps.settled[0]?.spent.usage ?? null).toEqual(name.startsWith("anthropic/") ? beginning : null);
    expect(classifyError(error)).toMatchObject({ category: "API_ERROR", outage: true });
  });

  test("text without an end is cut off", async () => {
    const { error } = await failing(name, { fault: "endless" }, true);
    expect(classifyError(error)).toMatchObject({ category: "API_ERROR", outage: true });
    expect((error as Error).message).toContain("no end");
  });

  test("a whole answer without an end is cut off before it fills the memory", async () => {
    const { error } = await failing(name, { fault: "endless" }, false);
    expect(classifyError(error)).toMatchObject({ category: "API_ERROR", outage: true });
    expect(String((error as Error).cause)).toContain("longer than 33554432 bytes");
  });

  test("an error in the middle of a stream is that error", async () => {
    const reaction: Reaction = {
      fault: "stream-error",
      status: 529,
      code: "overloaded_error",
      message: "Overloaded",
    };
    const { error, steps } = await failing(name, reaction, true);
    expect(classifyError(error)).toMatchObject({ category: "API_ERROR", outage: true });
    // The beginning had come, so something was billed; the amount is known as far as it was reported.
    expect(steps.settled[0]?.spent.usage ?? null).toEqual(name.startsWith("anthropic/") ? beginning : null);
  });

  test("a prompt that does not fit is recognized, before and after it was recorded", async () => {
    const { error } = await failing(name, refuse(400, "invalid_request_error", words[name]), true);
    expect(error).toBeInstanceOf(ContextOverflow);
    expect(ContextOverflow.isOverflow(error)).toBe(true);
    expect(classifyError(error)).toMatchObject({ category: "RESOURCE", code: "context_length_exceeded" });
    const { fromErrorJson, toErrorJson } = await import("../../../src/domain/error-json.ts");
    const readBack = fromErrorJson(JSON.parse(JSON.stringify(toErrorJson(error))));
    expect(ContextOverflow.isOverflow(readBack)).toBe(true);
    expect(classifyError(readBack)).toMatchObject({ category: "RESOURCE", recoverable: true });
  });

  test("a server that repeats the key does not get it into errors or records", async () => {
    for (const fault of ["refuse", "stream-error"] as const) {
      const message = `Key ${modelKey} is blocked`;
      const { error, steps } = await failing(name, { fault, status: 403, code: "forbidden", message }, true);
      const { toErrorJson } = await import("../../../src/domain/error-json.ts");
      const everything = JSON.stringify([
        toErrorJson(error),
        classifyError(error),
        error,
        { ...(error as object) },
        String((error as Error).stack),
        steps.records,
        steps.asked,
      ]);
      expect(everything).not.toContain(modelKey);
      expect((error as Error).message).toContain("[redacted] is blocked");
    }
  });

  test("a redirect is not followed, because it would send the key to another host", async () => {
    const elsewhere = await wire(name, [{ text: "give me the key" }]);
    const location = `${elsewhere.server.url}/v1/messages`;
    const { error } = await failing(name, refuse(307, "moved", "Moved.", { location }), true);
    expect(elsewhere.server.requests).toEqual([]);
    expect(classifyError(error)).toMatchObject({ category: "API_ERROR" });
  });

  test("an abort ends the call and its connection", async () => {
    const controller = new AbortController();
    const { model, server, steps } = await wire(name, [{ fault: "drip" }]);
    const reason = new Error("stop now");
    const ended = model.doGenerate({ ...question(), abortSignal: controller.signal }).then(
      () => undefined,
      (error: unknown) => error,
    );
    await until(() => server.open === 1);
    controller.abort(reason);
    expect(await ended).toMatchObject({ message: reason.message, cause: reason });
    await until(() => server.open === 0);
    expect(steps.records).toEqual([]);
  });
});

const words: Readonly<Record<WireModel, string>> = {
  "anthropic/claude-sonnet-4-5": "prompt is too long: 215000 tokens > 200000 maximum",
  "openai/gpt-5":
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
  "google/gemini-2.5-pro":
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  "openai-compatible/llama-3.3-70b":
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
};

async function failing(name: WireModel, reaction: Reaction, streamAlways: boolean, within = patient) {
  const { model, steps, server } = await wire(name, [reaction], { streamAlways, limits: within });
  const error: unknown = await model.doGenerate(question()).then(
    ({ content }) => expect.fail(`it answered ${JSON.stringify(content)}`),
    (thrown: unknown) => thrown,
  );
  return { error, steps, server };
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error("it did not happen");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
