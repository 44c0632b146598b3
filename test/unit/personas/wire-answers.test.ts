import { jsonSchema, streamText, type ToolSet, tool } from "ai";
import { afterEach, describe, expect, test } from "vitest";
import { durableModel } from "../../../src/personas/model/durable-model.ts";
import { runModelPersona } from "../../../src/personas/model/model-persona.ts";
import { resolveModel } from "../../../src/personas/model/resolve-model.ts";
import type { Model } from "../../../src/personas/model/sdk-types.ts";
import { LoopbackModels, modelKey } from "../../support/loopback-models.ts";
import { MemoryFiles } from "../../support/memory-files.ts";
import { RecordingSteps } from "../../support/recording-steps.ts";
import { adviseEdit, delivering, someWork } from "./persona-place.ts";
import { closeServers, question, wire, wireModels } from "./wire-place.ts";

afterEach(closeServers);

const turn = {
  reasoning: "The user wants a greeting.",
  text: "Hello, world.",
  calls: [{ id: "call_1", tool: "greet", input: { name: "world" } }],
};

const greet = {
  type: "function" as const,
  name: "greet",
  description: "Greets.",
  inputSchema: { type: "object" as const, properties: { name: { type: "string" as const } } },
};

describe.each(wireModels)("%s", (name) => {
  test.each([true, false])(
    "text, reasoning, tool calls and usage arrive (streamed: %s)",
    async (streamAlways) => {
      const heard: string[] = [];
      const { model, steps, server } = await wire(name, [turn], {
        streamAlways,
        onText: (delta) => heard.push(delta),
      });
      const result = await model.doGenerate({ ...question(), tools: [greet] });
      const kinds = result.content.map(({ type }) => type).filter((type) => type !== "custom");
      expect(kinds).toEqual(["reasoning", "text", "tool-call"]);
      expect(result.content.find(({ type }) => type === "text")).toMatchObject({ text: "Hello, world." });
      expect(result.content.at(-1)).toMatchObject({ toolName: "greet", input: '{"name":"world"}' });
      expect(result.finishReason.unified).toBe("tool-calls");
      // Anthropic does not say how much of its output was reasoning.
      const reasoningTokens = name.startsWith("anthropic") ? 0 : 30;
      expect(steps.settled).toEqual([
        {
          askedTokens: expect.any(Number),
          askedMicroUsd: null,
          atMostTokens: expect.any(Number),
          spent: {
            usage: {
              inputTokens: 1200,
              cachedInputTokens: 1000,
              cacheWriteTokens: 0,
              outputTokens: 80,
              reasoningTokens,
            },
            costMicroUsd: null,
          },
        },
      ]);
      expect(heard.join("")).toBe(streamAlways ? "Hello, world." : "");
      expect(server.requests).toHaveLength(1);
      expect(steps.records[0]).toMatchObject({ kind: "model", name, dependency: name });
    },
  );

  test("a streamed answer replays as it was, and the server is not asked again", async () => {
    const { model, steps, server } = await wire(name, [turn]);
    const live = await streamed(model);
    const { model: inner } = await resolveModel(name, { env: server.env });
    const replaying = new RecordingSteps(steps.records);
    const replayed = await streamed(durableModel(inner, { runStep: replaying.runStep }));
    expect(replayed).toEqual(live);
    expect(live.text).toBe("Hello, world.");
    expect(server.requests).toHaveLength(1);
  });

  test("a persona works with it, and no key is in what was recorded", async () => {
    const server = await LoopbackModels.start([
      { calls: [{ id: "a", tool: "write_file", input: { path: "docs/r.md", content: "# R\n" } }] },
      // The same id again, as small servers do.
      { calls: [{ id: "a", tool: "read_file", input: { path: "docs/r.md" } }] },
      { calls: [{ id: "a", tool: "submit", input: { summary: "written" } }] },
    ]);
    const { model } = await resolveModel(name, { env: server.env });
    const files = new MemoryFiles();
    const steps = new RecordingSteps();
    const result = await runModelPersona(someWork({ contract: delivering("docs/r.md") }), {
      model,
      files,
      adviseEdit,
      runStep: steps.runStep,
      signal: new AbortController().signal,
      runCheck: () => Promise.reject(new Error("no checks")),
    });
    await server.close();
    expect(result.summary).toBe("written");
    expect(files.contents).toEqual({ "docs/r.md": "# R\n" });
    expect(server.requests).toHaveLength(3);
    expect(JSON.stringify(steps.records)).not.toContain(modelKey);
  });
});

test("cache marks are sent to Anthropic and do not change the fingerprint of a call", async () => {
  const { model, server, steps } = await wire("anthropic/claude-sonnet-4-5", [{ text: "hi" }]);
  await model.doGenerate({ ...question(), tools: [greet] });
  const cache_control = { type: "ephemeral" };
  expect(server.requests[0]?.body).toMatchObject({
    system: [{ text: "You are short.", cache_control }],
    tools: [{ name: "greet", cache_control }],
    messages: [{ content: [{ text: "Say hello.", cache_control }] }],
  });
  expect(steps.asked[0]).not.toContain("cacheControl");
});

test("OpenAI is asked to store nothing, so that any machine can resume the conversation", async () => {
  const { model, server } = await wire("openai/gpt-5", [{ text: "hi" }]);
  await model.doGenerate(question());
  expect(server.requests[0]?.body).toMatchObject({
    store: false,
    include: ["reasoning.encrypted_content"],
    max_output_tokens: 8192,
  });
});

test("a compatible server is asked to report what a streamed answer took", async () => {
  const { model, server } = await wire("openai-compatible/llama-3.3-70b", [{ text: "hi" }]);
  await model.doGenerate(question());
  expect(server.requests[0]?.body).toMatchObject({
    stream_options: { include_usage: true },
    max_tokens: 8192,
  });
});

/** The messages that the SDK makes of a stream. The next prompt is built on them. */
async function streamed(model: Model): Promise<{ text: string; messages: unknown; usage: unknown }> {
  const tools = { greet: tool({ inputSchema: jsonSchema<{ name: string }>({ type: "object" }) }) } as ToolSet;
  const result = streamText({ model, tools, prompt: "Say hello.", maxRetries: 0 });
  const { messages } = await result.response;
  return { text: await result.text, messages, usage: await result.usage };
}
