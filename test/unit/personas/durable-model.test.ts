import { describe, expect, test, vi } from "vitest";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import { durableModel } from "../../../src/personas/model/durable-model.ts";
import type { AnyModel, Content, Model, StreamPart } from "../../../src/personas/model/sdk-types.ts";
import { classifyError } from "../../../src/run/failure/classify-error.ts";
import { RecordingSteps } from "../../support/recording-steps.ts";
import { answering, ownModel, text, usage } from "./own-model-place.ts";
import { question } from "./wire-place.ts";

const finish = (tokens = usage(100, 10)): StreamPart => ({
  type: "finish",
  finishReason: { unified: "stop", raw: undefined },
  usage: tokens,
});

const thrownBy = async (model: Model): Promise<unknown> =>
  model.doGenerate(question()).then(
    () => expect.fail("it answered"),
    (error: unknown) => error,
  );

describe("the record of a model call", () => {
  test("is what a replay needs, without request, headers and body", async () => {
    const steps = new RecordingSteps();
    const model = durableModel(answering(text("hi")), { runStep: steps.runStep });
    const live = await model.doGenerate(question());
    expect(live).toMatchObject({
      content: text("hi"),
      response: { id: "r", timestamp: new Date(0), modelId: "m-1-0815" },
    });
    expect(steps.records[0]?.body).not.toMatch(/headers|big|whole prompt/);
    const replaying = durableModel(ownModel({}), { runStep: new RecordingSteps(steps.records).runStep });
    expect(await replaying.doGenerate(question())).toEqual(live);
  });

  test("bytes come back as they were, in the call and in the answer", async () => {
    const steps = new RecordingSteps();
    const data = new Uint8Array([0, 255, 7]);
    const picture: Content = { type: "file", mediaType: "image/png", data: { type: "data", data } };
    const model = durableModel(answering([picture]), { runStep: steps.runStep });
    const file = { type: "file", mediaType: "image/png", data: { type: "data", data } } as const;
    const { content } = await model.doGenerate({ prompt: [{ role: "user", content: [file] }] });
    expect(content).toEqual([{ ...picture, data: { type: "data", data: "AP8H" } }]);
    expect(steps.asked[0]).toContain('"AP8H"');
  });

  test("a call is found again whatever its headers, signal and undefined settings are", async () => {
    const steps = new RecordingSteps();
    const model = durableModel(answering(text("hi")), { runStep: steps.runStep });
    await model.doGenerate(question());
    const again = durableModel(ownModel({}), { runStep: new RecordingSteps(steps.records).runStep });
    const { content } = await again.doGenerate({
      ...question(),
      headers: { "x-request": "2" },
      abortSignal: new AbortController().signal,
      includeRawChunks: true,
      ...({ temperature: undefined } as object),
    });
    expect(content).toEqual(text("hi"));
    await expect(again.doGenerate({ ...question(), temperature: 0.5 })).rejects.toThrow("not asked");
  });

  test("two equal calls are two calls", async () => {
    const steps = new RecordingSteps();
    let count = 0;
    const counting = ownModel({
      doGenerate: async () => {
        count += 1;
        return {
          content: text(`${count}`),
          finishReason: { unified: "stop", raw: undefined },
          usage: usage(1, 1),
          warnings: [],
        };
      },
    });
    const model = durableModel(counting, { runStep: steps.runStep });
    const answers = [await model.doGenerate(question()), await model.doGenerate(question())];
    expect(answers.map(({ content }) => content)).toEqual([text("1"), text("2")]);
    const replay = durableModel(ownModel({}), { runStep: new RecordingSteps(steps.records).runStep });
    const again = [await replay.doGenerate(question()), await replay.doGenerate(question())];
    expect(again.map(({ content }) => content)).toEqual([text("1"), text("2")]);
  });

  test.each([
    ["two of one answer", ["a", "a", "a"], ["a", "call00001", "call00002"]],
    ["an empty one", ["", ""], ["call00001", "call00002"]],
    ["one that the conversation has", ["before"], ["call00001"]],
  ])("ids of tool calls are made unique: %s", async (_, ids, expected) => {
    const calls = ids.map(
      (toolCallId): Content => ({ type: "tool-call", toolCallId, toolName: "t", input: "{}" }),
    );
    const model = durableModel(answering(calls), { runStep: new RecordingSteps().runStep });
    const before = { type: "tool-call", toolCallId: "before", toolName: "t", input: {} } as const;
    const { content } = await model.doGenerate({ prompt: [{ role: "assistant", content: [before] }] });
    expect(content.map((part) => (part as { toolCallId: string }).toolCallId)).toEqual(expected);
  });
});

describe("a stream", () => {
  const delta = (id: string, value: string): StreamPart => ({ type: "text-delta", id, delta: value });
  const call: StreamPart = { type: "tool-call", toolCallId: "c", toolName: "t", input: "{}" };

  test("passes text on as it comes, but tool calls only when the answer is recorded", async () => {
    const source = new TransformStream<StreamPart, StreamPart>();
    const writer = source.writable.getWriter();
    const steps = new RecordingSteps();
    const recorded = vi.fn<() => void>();
    const streaming = ownModel({ doStream: async () => ({ stream: source.readable }) });
    const model = durableModel(streaming, {
      runStep: async (step) => {
        const result = await steps.runStep(step);
        recorded();
        return result;
      },
    });
    const asked = model.doStream(question());
    for (const part of [{ type: "text-start", id: "1" } as const, delta("1", "Hel")]) void writer.write(part);
    const reader = (await asked).stream.getReader();
    expect((await reader.read()).value).toMatchObject({ type: "text-start" });
    expect((await reader.read()).value).toMatchObject({ delta: "Hel" });
    for (const part of [delta("1", "lo"), { type: "text-end", id: "1" } as const, call, finish()])
      void writer.write(part);
    expect((await reader.read()).value).toMatchObject({ delta: "lo" });
    expect((await reader.read()).value).toMatchObject({ type: "text-end" });
    expect(recorded).not.toHaveBeenCalled();
    const next = reader.read();
    void writer.close();
    expect((await next).value).toEqual(call);
    expect(recorded).toHaveBeenCalledOnce();
    expect((await reader.read()).value).toMatchObject({ type: "finish" });
    expect((await reader.read()).done).toBe(true);
  });

  test("a stream that its reader cancels ends the call", async () => {
    let signal: AbortSignal | undefined;
    const endless = ownModel({
      doStream: async (options) => {
        signal = options.abortSignal;
        return {
          stream: ReadableStream.from([
            { type: "text-start", id: "1" } as const,
            delta("1", "x"),
          ]).pipeThrough(new TransformStream<StreamPart, StreamPart>({ flush: () => new Promise(() => {}) })),
        };
      },
    });
    const steps = new RecordingSteps();
    const { stream } = await durableModel(endless, { runStep: steps.runStep }).doStream(question());
    await stream.cancel();
    await vi.waitFor(() => expect(signal?.aborted).toBe(true), 60_000);
    expect(steps.records).toEqual([]);
  });

  test("a failing watcher does not break the stream", async () => {
    const parts = [{ type: "text-start", id: "1" } as const, delta("1", "x"), finish()];
    const streaming = ownModel({ doStream: async () => ({ stream: ReadableStream.from(parts) }) });
    const model = durableModel(streaming, {
      runStep: new RecordingSteps().runStep,
      streamAlways: true,
      onText: () => {
        throw new Error("no room on the screen");
      },
    });
    expect((await model.doGenerate(question())).content).toEqual(text("x"));
  });

  test("that has text for a block it never began, or no end, is broken", async () => {
    for (const parts of [
      [delta("9", "x"), finish()],
      [{ type: "text-start", id: "1" } as const, delta("1", "x")],
    ]) {
      const broken = ownModel({ doStream: async () => ({ stream: ReadableStream.from(parts) }) });
      const model = durableModel(broken, { runStep: new RecordingSteps().runStep, streamAlways: true });
      const error: unknown = await thrownBy(model);
      expect(classifyError(error)).toMatchObject({ category: "API_ERROR", outage: true });
    }
  });
});

describe("a call ends", () => {
  const deaf = ownModel({ doGenerate: () => new Promise(() => {}), doStream: () => new Promise(() => {}) });

  test("when its time is over, even if the provider does not listen", async () => {
    const clock = new ManualClock();
    const model = durableModel(deaf, {
      runStep: new RecordingSteps().runStep,
      clock,
      limits: { totalMs: 5000 },
    });
    const ended = thrownBy(model);
    await vi.waitFor(() => expect(clock.pending()).toBe(1), 60_000);
    await clock.advance(5000);
    const error = await ended;
    expect((error as Error).message).toBe("The model did not end within 5000 ms.");
    expect(classifyError(error)).toMatchObject({ category: "TIMEOUT", outage: true });
  });

  test("when a stream says nothing for too long", async () => {
    const clock = new ManualClock();
    const model = durableModel(deaf, {
      runStep: new RecordingSteps().runStep,
      clock,
      streamAlways: true,
      limits: { silenceMs: 1000 },
    });
    const ended = thrownBy(model);
    await vi.waitFor(() => expect(clock.pending()).toBe(1), 60_000);
    await clock.advance(1000);
    expect(((await ended) as Error).message).toBe("The model said nothing for 1000 ms.");
  });

  test("at once when it was stopped before it began", async () => {
    const reason = new Error("too late");
    const model = durableModel(deaf, {
      runStep: new RecordingSteps().runStep,
      signal: AbortSignal.abort(reason),
    });
    await expect(model.doGenerate(question())).rejects.toBe(reason);
  });
});

test("the name of a model is rejected in place of a model, because it would be sent to a gateway", () => {
  const { runStep } = new RecordingSteps();
  expect(() => durableModel("openai/gpt-5" as unknown as AnyModel, { runStep })).toThrow(/not from its name/);
});

test("arguments nested too deep for the next prompt are a broken answer", async () => {
  const input = `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`;
  const calls: Content[] = [{ type: "tool-call", toolCallId: "c", toolName: "t", input }];
  const model = durableModel(answering(calls), { runStep: new RecordingSteps().runStep });
  await expect(model.doGenerate(question())).rejects.toThrow("nested deeper than 100 levels");
});
