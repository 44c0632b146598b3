import { afterEach, describe, expect, test } from "vitest";
import { runModelPersona } from "../../../src/personas/model/model-persona.ts";
import { ContextOverflow } from "../../../src/personas/model/provider-error.ts";
import { resolveModel } from "../../../src/personas/model/resolve-model.ts";
import type { ModelTurn } from "../../support/loopback-model-turn.ts";
import { LoopbackModels, type ModelRequest, type Reaction } from "../../support/loopback-models.ts";
import { MemoryFiles } from "../../support/memory-files.ts";
import { RecordingSteps } from "../../support/recording-steps.ts";
import { adviseEdit, someWork } from "./persona-place.ts";
import { closeServers, question, wire, wireModels } from "./wire-place.ts";

/** Of the provider, in its own tokens: four bytes each. */
const window = 12_000;
const maxOutputTokens = 800;
const tokensOf = ({ text }: ModelRequest): number => Math.ceil(Buffer.byteLength(text) / 4);
const asksForSummary = ({ text }: ModelRequest): boolean => text.includes("Call no tool. Write a summary");

const chapters = 44;
const chapter = (number: number): string =>
  Array.from({ length: 40 }, (_, line) => `Chapter ${number}, line ${line}: all is well.`).join("\n");
const books = Object.fromEntries(Array.from({ length: chapters }, (_, n) => [`${n}.md`, chapter(n)]));

const turn = (number: number): ModelTurn =>
  number < chapters
    ? { text: `turn-${number}-`, calls: [{ id: "call", tool: "read_file", input: { path: `${number}.md` } }] }
    : { text: "turn-end-", calls: [{ id: "call", tool: "submit", input: { summary: "read" } }] };

/** The next turn by the last one that the request quotes; summaries are numbered by the turn before them. */
function turnsSoFar({ text }: ModelRequest): number {
  const quoted = [...text.matchAll(/turn-(\d+)-/g)].map(([, number]) => Number(number));
  return Math.max(-1, ...quoted) + 1;
}

interface Options {
  readonly contextWindow?: number;
  readonly steps?: RecordingSteps;
  readonly react?: (request: ModelRequest) => Reaction | undefined;
}

const servers: LoopbackModels[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  await closeServers();
});

async function drive(name: string, { contextWindow, steps = new RecordingSteps(), react }: Options = {}) {
  const server = await LoopbackModels.start();
  servers.push(server);
  server.react = (request) => {
    const input = tokensOf(request);
    const usage = { input, cached: 0, cacheWrite: 0, output: 40, reasoning: 0 };
    if (input + maxOutputTokens > window) {
      const message = "This model's maximum context length is exceeded.";
      return { fault: "refuse", status: 400, code: "context_length_exceeded", message };
    }
    const own = react?.(request);
    if (own !== undefined) return "fault" in own ? own : { usage, ...own };
    if (asksForSummary(request)) return { text: `I have read to turn-${turnsSoFar(request) - 1}-.`, usage };
    return { usage, ...turn(turnsSoFar(request)) };
  };
  const { model } = await resolveModel(name, { env: server.env });
  const run = runModelPersona(someWork({ brief: "Read all chapters of the book." }), {
    model,
    files: new MemoryFiles(books),
    adviseEdit,
    maxOutputTokens,
    runStep: steps.runStep,
    signal: new AbortController().signal,
    runCheck: () => Promise.reject(new Error("no checks")),
    ...(contextWindow !== undefined && { contextWindow }),
  });
  const ended = await run.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  return { ...ended, requests: server.requests, texts: server.requests.map(({ text }) => text), steps };
}

describe.each(wireModels)("a conversation with %s that outgrows the model's window", (name) => {
  test("is refused by the provider when the window is not known", async () => {
    const ended = await drive(name);
    expect(ContextOverflow.isOverflow("error" in ended && ended.error)).toBe(true);
  });

  test("is summarized in time, keeps its brief and its last turn, and comes to its end", async () => {
    const ended = await drive(name, { contextWindow: window });
    expect(ended).toMatchObject({ result: { summary: "read" } });
    const summaries = ended.requests.filter(asksForSummary);
    expect(summaries.length).toBeGreaterThan(1);
    for (const [index, request] of ended.requests.entries()) {
      expect(request.text).toContain("Read all chapters of the book.");
      const before = ended.requests[index - 1];
      if (before === undefined || !asksForSummary(before)) continue;
      const read = turnsSoFar(request) - 1;
      expect(request.text).toContain("<summary>");
      expect(request.text, "the last result is whole").toContain(`Chapter ${read}, line 39: all is well.`);
      expect(request.text, "older results are gone").not.toContain("Chapter 0, line 39: all is well.");
    }
    expect(
      new Set(ended.requests.map((request) => asksForSummary(request) || turnsSoFar(request))).size,
    ).toBe(chapters + 2);
  });

  test("is replayed to the same requests from wherever its process died, with no summary paid twice", async () => {
    const whole = await drive(name, { contextWindow: window });
    const { records } = whole.steps;
    for (let recorded = 0; recorded <= records.length; recorded += 5) {
      const resumed = await drive(name, { contextWindow: window, steps: whole.steps.after(recorded) });
      expect(resumed).toMatchObject({ result: { summary: "read" } });
      const calls = records.slice(0, recorded).filter(({ kind }) => kind === "model").length;
      expect(resumed.texts, `after ${recorded} steps`).toEqual(whole.texts.slice(calls));
    }
  });
});

describe("a summary", () => {
  const name = "anthropic/claude-sonnet-4-5";

  test("is reserved and settled as any other call", async () => {
    const { steps, requests } = await drive(name, { contextWindow: window });
    expect(steps.settled).toHaveLength(requests.length);
    const at = requests.findIndex(asksForSummary);
    const { askedTokens, spent } = steps.settled[at] ?? {};
    expect(spent?.usage).toMatchObject({ inputTokens: tokensOf(requests[at] as ModelRequest) });
    expect(askedTokens).toBeGreaterThanOrEqual(tokensOf(requests[at] as ModelRequest));
  });

  test("is asked for with the messages of the call before it, so that the provider finds them in its cache", async () => {
    const { requests } = await drive(name, { contextWindow: window });
    const at = requests.findIndex(asksForSummary);
    const plain = (body: Record<string, unknown> | undefined) =>
      JSON.stringify(body, (key, value: unknown) => (key === "cache_control" ? undefined : value));
    const { messages: before, ...settingsBefore } = requests[at - 1]?.body ?? {};
    const { messages, ...settings } = requests[at]?.body ?? {};
    expect(plain(settings)).toBe(plain(settingsBefore));
    const shared = (messages as object[]).slice(0, -1) as never;
    expect(plain(shared)).toBe(
      plain((before as object[]).slice(0, (messages as object[]).length - 1) as never),
    );
  });

  test("is not asked for while there is room", async () => {
    const { requests } = await drive(name, { contextWindow: 10 * window, react: () => turn(chapters) });
    expect(requests).toHaveLength(1);
  });

  test("that is a tool call runs nothing, and the conversation continues without a summary", async () => {
    const files = { path: "0.md", content: "" };
    const wrong: ModelTurn = { calls: [{ id: "call", tool: "write_file", input: files }] };
    let asked = 0;
    const ended = await drive(name, {
      contextWindow: window,
      react: (request) => {
        if (asksForSummary(request)) return wrong;
        // Nothing says how far it came.
        asked += 1;
        return turn(asked - 1);
      },
    });
    expect(ended).toMatchObject({ result: { summary: "read" } });
    expect(ended.steps.records.filter(({ name }) => name === "write_file")).toEqual([]);
    expect(ended.texts.at(-1)).toContain("there is no summary of them");
  });

  test("comes in time when the provider reports no usage", async () => {
    const none = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };
    const ended = await drive(name, {
      contextWindow: window,
      react: (request) =>
        asksForSummary(request) ? undefined : { ...turn(turnsSoFar(request)), usage: none },
    });
    expect(ended).toMatchObject({ result: { summary: "read" } });
    expect(ended.requests.some(asksForSummary)).toBe(true);
  });

  test("does not lead to two tool calls of one id in a prompt", async () => {
    const turns = [{ calls: [{ id: "any", tool: "read_file", input: {} }] }];
    const { model } = await wire("openai-compatible/llama-3.3-70b", turns, { numberToolCalls: true });
    const about = { toolCallId: "call0000z", toolName: "read_file" } as const;
    const output = { type: "text", value: "all is well" } as const;
    const { content } = await model.doGenerate({
      prompt: [
        ...question("Behind a summary: the first call is gone.").prompt,
        { role: "assistant", content: [{ type: "tool-call", ...about, input: {} }] },
        { role: "tool", content: [{ type: "tool-result", ...about, output }] },
      ],
    });
    expect(content).toMatchObject([{ type: "tool-call", toolCallId: "call00010" }]);
  });
});
