import { afterEach, describe, expect, test } from "vitest";
import { outcomeOfCall } from "../../../src/execution/circuit-breaker.ts";
import { classifyError } from "../../../src/execution/failure/classify-error.ts";
import { durableModel } from "../../../src/models/durable-model.ts";
import type { GenerateResult, Model } from "../../../src/models/sdk-types.ts";
import type { Reaction } from "../../support/loopback-models.ts";
import { RecordingSteps } from "../../support/recording-steps.ts";
import { closeServers, question, type WireModel, wire, wireModels } from "./wire-place.ts";

afterEach(closeServers);

const thrownBy = (model: Model): Promise<unknown> =>
  Promise.resolve(model.doGenerate(question())).then(
    ({ content }) => expect.fail(`it answered ${JSON.stringify(content)}`),
    (error: unknown) => error,
  );

async function outcomeOn(name: WireModel, reaction: Reaction) {
  const { model } = await wire(name, [reaction]);
  const failure = classifyError(await thrownBy(model));
  return { failure, outcome: outcomeOfCall(failure) };
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
