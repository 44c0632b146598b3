import { describe, expect, test } from "vitest";
import { durableModel } from "../../../src/personas/model/durable-model.ts";
import type { Pricing } from "../../../src/personas/model/ports.ts";
import { RecordingSteps } from "../../support/recording-steps.ts";
import { answering, text, usage } from "./own-model-place.ts";
import { question } from "./wire-place.ts";

describe("the recorded spend of a call", () => {
  const cost = (input: number, output: number): number => input * 3 + output * 15;
  const pricing: Pricing = {
    worstCase: async (_, input, output) => ({ tokens: input + output, microUsd: cost(input, output) }),
    spent: (model, usage) => {
      const known = usage !== null && model === "own/m-1";
      return { usage, costMicroUsd: known ? cost(usage.inputTokens, usage.outputTokens) : null };
    },
  };

  test("is reserved for the worst case and settled with what the provider counted", async () => {
    const steps = new RecordingSteps();
    const model = durableModel(answering(text("hi")), {
      runStep: steps.runStep,
      pricing,
      maxOutputTokens: 50,
    });
    await model.doGenerate(question());
    const [settled] = steps.settled;
    expect(settled?.spent).toEqual({
      usage: {
        inputTokens: 100,
        cachedInputTokens: 0,
        cacheWriteTokens: 0,
        outputTokens: 10,
        reasoningTokens: 0,
      },
      costMicroUsd: 450,
    });
    expect(settled?.askedTokens).toBeGreaterThan(50);
    expect(settled?.askedTokens).toBeLessThan(50 + JSON.stringify(question()).length);
  });

  test("under a limit never less than a text can have is asked for, and what providers add", async () => {
    const steps = new RecordingSteps();
    const model = durableModel(answering(text("hi")), { runStep: steps.runStep, maxOutputTokens: 1 });
    await model.doGenerate(question("🅿️".repeat(100)));
    const bytes = Buffer.byteLength("🅿️".repeat(100));
    expect(steps.settled[0]?.askedTokens).toBeLessThan(bytes);
    expect(steps.settled[0]?.atMostTokens).toBeGreaterThan(bytes + 1_000);
  });

  test("another conversation of the same length is not taken for the one before", async () => {
    const steps = new RecordingSteps();
    const model = durableModel(answering(text("hi"), usage(300, 10)), {
      runStep: steps.runStep,
      maxOutputTokens: 1,
    });
    await model.doGenerate(question("x".repeat(9_000)));
    await model.doGenerate(question("本".repeat(3_000)));
    expect(steps.settled[1]?.atMostTokens).toBeGreaterThan(9_000);
  });

  test("thoughts that are allowed on top of the answer, and the answer's schema, are asked for too", async () => {
    const steps = new RecordingSteps();
    const model = durableModel(answering(text("hi")), { runStep: steps.runStep, maxOutputTokens: 1 });
    const thinking = { type: "enabled", budgetTokens: 30_000 };
    await model.doGenerate({ ...question(), providerOptions: { anthropic: { thinking } } });
    expect(steps.settled[0]?.askedTokens).toBeGreaterThan(30_000);
    const schema = { type: "object" as const, description: "7".repeat(5_000) };
    await model.doGenerate({ ...question(), responseFormat: { type: "json", schema } });
    expect(steps.settled[1]?.atMostTokens).toBeGreaterThan(5_000);
  });

  test("a picture is asked for as a picture, not as its bytes, and also where only its address is sent", async () => {
    const steps = new RecordingSteps();
    const model = durableModel(answering(text("hi")), { runStep: steps.runStep, maxOutputTokens: 1 });
    const image = (data: { type: "data"; data: Uint8Array } | { type: "url"; url: URL }) =>
      model.doGenerate({
        prompt: [{ role: "user", content: [{ type: "file", mediaType: "image/png", data }] }],
      });
    await image({ type: "data", data: new Uint8Array(3_000_000) });
    await image({ type: "url", url: new URL("https://example.org/a.png") });
    for (const { atMostTokens } of steps.settled) {
      expect(atMostTokens).toBeGreaterThan(10_000);
      expect(atMostTokens).toBeLessThan(30_000);
    }
  });

  test("a longer conversation is counted from what the one before took", async () => {
    const steps = new RecordingSteps();
    const model = durableModel(answering(text("hi"), usage(7000, 10)), {
      runStep: steps.runStep,
      maxOutputTokens: 1,
    });
    const { prompt } = question("7".repeat(20_000));
    await model.doGenerate({ prompt });
    const more = [
      ...prompt,
      { role: "user" as const, content: [{ type: "text" as const, text: "7".repeat(500) }] },
    ];
    await model.doGenerate({ prompt: more });
    expect(steps.settled[0]?.askedTokens).toBeGreaterThan(10_000);
    expect(steps.settled[1]?.askedTokens).toBeGreaterThan(7250);
    expect(steps.settled[1]?.atMostTokens).toBeGreaterThan(7500);
    expect(steps.settled[1]?.askedTokens).toBeLessThan(7350);
    expect(steps.settled[1]?.atMostTokens).toBeLessThan(7700);
  });

  test("a provider that counts more than any known tokenizer is believed: from then on a token a byte", async () => {
    const prose = "All of it is read again with every call. ".repeat(500);
    const steps = new RecordingSteps();
    const own = answering(text("hi"), usage(Buffer.byteLength(prose), 10));
    const model = durableModel(own, { runStep: steps.runStep, maxOutputTokens: 1 });
    const { prompt } = question(prose);
    await model.doGenerate({ prompt });
    expect(steps.settled[0]?.atMostTokens).toBeLessThan(Buffer.byteLength(prose));
    const more = { role: "user" as const, content: [{ type: "text" as const, text: prose }] };
    await model.doGenerate({ prompt: [...prompt, more] });
    expect(steps.settled[1]?.atMostTokens).toBeGreaterThan(2 * Buffer.byteLength(prose));
  });

  test("an input far below what was sent is no report: a budget would never notice what is spent", async () => {
    const sent = "All of it is read again with every call. ".repeat(2_000);
    const taken = async (reported: number, prompt = question(sent).prompt) => {
      const steps = new RecordingSteps();
      const own = answering(text("hi"), usage(reported, 10));
      await durableModel(own, { runStep: steps.runStep }).doGenerate({ prompt });
      return steps.settled[0]?.spent.usage?.inputTokens ?? null;
    };
    expect(await taken(1)).toBeNull();
    expect(await taken(1_000)).toBeNull();
    expect(await taken(12_000)).toBe(12_000);
    const file = { type: "file" as const, mediaType: "application/pdf", data: new Uint8Array(900_000) };
    const data = { type: "data" as const, data: file.data };
    expect(await taken(3_000, [{ role: "user", content: [{ ...file, data }] }])).toBe(3_000);
    const thought = { type: "reasoning" as const, text: sent, providerOptions: { own: { seal: sent } } };
    const thoughtful = [...question("Go on.").prompt, { role: "assistant" as const, content: [thought] }];
    expect(await taken(90, thoughtful)).toBe(90);
  });

  test.each([
    ["nothing", { inputTokens: {}, outputTokens: {} }],
    ["fractions", usage(1.5, 2)],
    ["less than nothing", usage(-5, 2)],
    ["no number", usage(Number.NaN, 2)],
    ["zeros for an answer that says something", usage(0, 0)],
    ["no input", usage(0, 10)],
    ["no output", usage(100, 0)],
  ])("a provider that reports %s has reported nothing", async (_, reported) => {
    const steps = new RecordingSteps();
    const model = durableModel(answering(text("hi"), reported as never), { runStep: steps.runStep, pricing });
    await model.doGenerate(question());
    expect(steps.settled[0]?.spent).toEqual({ usage: null, costMicroUsd: null });
    // Nor does it make the next call look cheaper than its bytes.
    await model.doGenerate(question());
    expect(steps.settled[1]?.atMostTokens).toBe(steps.settled[0]?.atMostTokens);
  });
});
