import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { afterEach, expect, test } from "vitest";
import { durableModel } from "../../../src/personas/model/durable-model.ts";
import { outcomeOfCall } from "../../../src/run/circuit-breaker.ts";
import { classifyError } from "../../../src/run/failure/classify-error.ts";
import { event } from "../../support/loopback-model-turn.ts";
import { LoopbackModels, modelKey, type Reaction } from "../../support/loopback-models.ts";
import { RecordingSteps } from "../../support/recording-steps.ts";
import { question } from "./wire-place.ts";

const servers: LoopbackModels[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

/** A provider package that a user set up, with a fetch of their own. */
async function failing(reaction: Reaction, streamAlways: boolean) {
  const server = await LoopbackModels.start([reaction]);
  servers.push(server);
  const own = createOpenAICompatible({ name: "own", baseURL: `${server.url}/v1`, apiKey: modelKey })("m-1");
  const steps = new RecordingSteps();
  const error: unknown = await durableModel(own, { runStep: steps.runStep, streamAlways })
    .doGenerate(question())
    .then(
      ({ content }) => expect.fail(`it answered ${JSON.stringify(content)}`),
      (thrown: unknown) => thrown,
    );
  const failure = classifyError(error);
  return { failure, outcome: outcomeOfCall(failure), usage: steps.settled[0]?.spent.usage };
}

const say = (body: unknown): Reaction => ({
  fault: "say",
  body: JSON.stringify(body),
  type: "application/json",
});

test("an error that comes with 200 is what it says", async () => {
  const limited = await failing(say({ error: { code: 429, message: "Slow down." } }), false);
  expect(limited.failure).toMatchObject({ category: "RATE_LIMIT", code: "429", outage: true });
  expect(limited.failure.message).toContain("Slow down.");
  expect(limited.outcome.kind).toBe("rate-limit");
  expect(limited.usage).toMatchObject({ inputTokens: 0, outputTokens: 0 });
  const unknown = await failing(say({ error: "model 'm-1' not found" }), false);
  expect(unknown.failure).toMatchObject({ category: "API_ERROR", recoverable: false });
});

test("an answer that its package cannot read may be asked for again, and says nothing against the service", async () => {
  const choice = { index: 0, finish_reason: "stop" };
  const usage = { prompt_tokens: "200", completion_tokens: 5 };
  const whole = say({ choices: [{ ...choice, message: { content: "hello" } }], usage });
  const streamed = event({ choices: [{ ...choice, delta: { content: "hello" } }], usage });
  for (const [reaction, streamAlways] of [
    [whole, false],
    [{ fault: "say", body: streamed }, true],
  ] as const) {
    const { failure, outcome, usage } = await failing(reaction, streamAlways);
    expect(failure).toMatchObject({ category: "API_ERROR", outage: true, recoverable: true });
    expect(failure.message).toContain("prompt_tokens");
    expect(outcome).toEqual({ kind: "success" });
    expect(usage).toBeNull();
  }
});

test.each(["garbage", "wrong-shape"] as const)(
  "something else in place of an answer is an outage of the service: %s",
  async (fault) => {
    for (const streamAlways of [true, false]) {
      const { failure, outcome } = await failing({ fault }, streamAlways);
      expect(failure).toMatchObject({ category: "API_ERROR", outage: true });
      expect(outcome).toEqual({ kind: "outage" });
    }
  },
);
