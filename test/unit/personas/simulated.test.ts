import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConfigInvalid } from "../../../src/domain/errors.ts";
import type { Json } from "../../../src/domain/json.ts";
import { attemptLine } from "../../../src/personas/model/prompt.ts";
import { resolveModel } from "../../../src/personas/model/resolve-model.ts";
import type { CallOptions, Model } from "../../../src/personas/model/sdk-types.ts";
import {
  parseScript,
  type SimulatedFault,
  type SimulatedScript,
} from "../../../src/personas/model/simulated/script.ts";
import { classifyError } from "../../../src/run/failure/classify-error.ts";
import { call, delivering, place, submit } from "./persona-place.ts";
import { question } from "./wire-place.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "maestro-script-"));
});
afterAll(() => rm(directory, { recursive: true }));

const asking = (persona: string, attempt = 1, phase = "design"): CallOptions => ({
  prompt: [
    { role: "system", content: `You are ${persona} in phase ${phase}.\n\nBe good.` },
    { role: "user", content: ["## Brief", attemptLine(attempt)].map((text) => ({ type: "text", text })) },
  ],
});

const modelOf = async (script?: SimulatedScript | string): Promise<Model> =>
  (await resolveModel("simulated", { env: {}, script })).model;

const said = async (model: Model, options: CallOptions): Promise<string> => {
  const { content } = await model.doGenerate(options);
  return content.map((part) => (part.type === "text" ? part.text : "?")).join("");
};

describe("a script", () => {
  const script: SimulatedScript = {
    personas: {
      architect: [[{ text: "first" }], [{ text: "second" }]],
      "design/architect": [[{ text: "in design" }]],
    },
  };

  test("is played by persona, phase and attempt; the last attempt serves for all later ones", async () => {
    const model = await modelOf(script);
    expect(await said(model, asking("architect", 1, "build"))).toBe("(simulated) first");
    expect(await said(model, asking("architect", 2, "build"))).toBe("(simulated) second");
    expect(await said(model, asking("architect", 9, "build"))).toBe("(simulated) second");
    expect(await said(model, asking("architect"))).toBe("(simulated) in design");
  });

  test("is one model, which knows what has happened, however often it is asked for", async () => {
    const faulty: SimulatedScript = { personas: { a: [[{ text: "fine", fault: { status: 500 } }]] } };
    await expect(said(await modelOf(faulty), asking("a"))).rejects.toThrow("status 500");
    expect(await said(await modelOf(faulty), asking("a"))).toBe("(simulated) fine");
  });

  test("comes from a YAML file too", async () => {
    const file = join(directory, "script.yaml");
    await writeFile(file, "seed: 3\npersonas:\n  architect:\n    - - text: from the file\n");
    expect(await said(await modelOf(file), asking("architect"))).toBe("(simulated) from the file");
  });

  test.each<[string, Json, string]>([
    ["an unknown key", { persona: {} }, '"persona" is not a known key. Did you mean "personas"?'],
    ["no list of attempts", { personas: { a: { text: "x" } } }, '"personas.a" is not a list'],
    ["turns where attempts belong", { personas: { a: [{ text: "x" }] } }, '"personas.a.0" is not a list'],
    [
      "a wrong turn",
      { personas: { a: [[{ txt: "x" }]] } },
      '"personas.a.0.0.txt" is not a known key. Did you mean "text"?',
    ],
    [
      "a call without input",
      { personas: { a: [[{ calls: [{ tool: "t" }] }]] } },
      'calls.0.input" is missing',
    ],
    ["a wrong fault", { personas: { a: [[{ fault: { kind: "rest" } }]] } }, 'Did you mean "reset"?'],
    ["a fault of no kind", { personas: { a: [[{ fault: {} }]] } }, "needs either a status or a kind"],
    [
      "a status that is no failure",
      { personas: { a: [[{ fault: { status: 200 } }]] } },
      "is not an HTTP status from 400 to 599",
    ],
    ["a negative latency", { latencyMs: -1 }, '"latencyMs" is not a whole number'],
    ["no mapping", ["x"], "it is not a mapping"],
  ])("with %s is refused by its place", (_, value, message) => {
    expect(() => parseScript(value, "the script")).toThrow(message);
  });

  test("that cannot be read is refused by its file", async () => {
    await expect(modelOf(join(directory, "none.yaml"))).rejects.toThrow(ConfigInvalid);
    const file = join(directory, "broken.yaml");
    await writeFile(file, "personas: [");
    await expect(modelOf(file)).rejects.toThrow("cannot be read as YAML");
    const bomb = join(directory, "bomb.yaml");
    const lines = Array.from({ length: 12 }, (_, at) =>
      `x${at}: &x${at} [${`*x${at - 1},`.repeat(9)}]`.replace(/\*x-1,/g, "1,"),
    );
    await writeFile(bomb, lines.join("\n"));
    await expect(modelOf(bomb)).rejects.toThrow(ConfigInvalid);
  });
});

describe("the simulated model", () => {
  test("says of itself that it is simulated", async () => {
    const model = await modelOf();
    const { content, providerMetadata, response } = await model.doGenerate(question());
    expect(content).toMatchObject([{ type: "text", text: expect.stringContaining("simulated model") }]);
    expect({ providerMetadata, model: response?.modelId }).toEqual({
      providerMetadata: { simulated: { simulated: true } },
      model: "simulated",
    });
  });

  test("says the same each time, in pieces or as a whole", async () => {
    const script = {
      seed: 5,
      personas: { a: [[{ text: "A longer text, in several pieces, says the same." }]] },
    };
    const [one, two] = [await modelOf(script), await modelOf(script)];
    const whole = await one.doGenerate(asking("a"));
    expect(await two.doGenerate(asking("a"))).toEqual(whole);
    const pieces: string[] = [];
    for await (const part of (await two.doStream(asking("a"))).stream)
      if (part.type === "text-delta") pieces.push(part.delta);
    expect(pieces.length).toBeGreaterThan(2);
    expect(whole.content).toEqual([{ type: "text", text: pieces.join("") }]);
  });

  test("submits by itself when its script does not, and fits the schema of the outputs", async () => {
    const outputs = {
      type: "object",
      required: ["name", "size", "tags", "ok", "kind"],
      properties: {
        name: { type: "string", minLength: 12 },
        size: { type: "integer", minimum: 4 },
        tags: { type: "array", minItems: 2, items: { type: "string" } },
        ok: { type: "boolean" },
        kind: { enum: ["a", "b"] },
        left: { type: "number" },
      },
    };
    const { run } = await place([call("list_files", {})], {
      work: { contract: { deliverables: [], checks: [], outputs } },
    });
    expect((await run()).outputs).toEqual({
      name: "simulated...",
      size: 4,
      tags: ["simulated", "simulated"],
      ok: true,
      kind: "a",
    });
  });

  test.each([
    ["docs/*.md", "docs/simulated.md"],
    ["src/**/*.{ts,js}", "src/simulated.ts"],
    ["logs/[ab]?.txt", "logs/ax.txt"],
    ["**", "simulated"],
    ["data/**", "data/simulated"],
    ['a "quoted", name.json', 'a "quoted", name.json'],
  ])("delivers a file that %s matches", async (glob, path) => {
    const { run, files } = await place(undefined, { work: { contract: delivering(glob) } });
    await run();
    expect(Object.keys(files.contents)).toEqual([path]);
  });

  test("counts tokens as its script says", async () => {
    const usage = { input: 1000, cachedInput: 900, output: 50, reasoning: 20 };
    const { run, steps } = await place([{ ...submit(), usage }]);
    await run();
    expect(steps.settled[0]?.spent.usage).toEqual({
      inputTokens: 1000,
      cachedInputTokens: 900,
      cacheWriteTokens: 0,
      outputTokens: 50,
      reasoningTokens: 20,
    });
  });
});

describe("a simulated fault is the one that a provider would cause, and passes", () => {
  test.each<[SimulatedFault, object]>([
    [
      { status: 429, retryAfter: 7 },
      { category: "RATE_LIMIT", outage: true, retryAfterMs: 7000 },
    ],
    [{ status: 503 }, { category: "API_ERROR", outage: true }],
    [{ status: 401 }, { category: "AUTH", recoverable: false }],
    [{ kind: "reset" }, { category: "API_ERROR", outage: true, code: "ECONNRESET" }],
    [{ kind: "cut" }, { category: "API_ERROR", outage: true }],
    [{ kind: "garbage" }, { category: "API_ERROR", outage: true }],
    [{ kind: "empty" }, { category: "API_ERROR", outage: true }],
    [{ kind: "overflow" }, { category: "RESOURCE", code: "context_length_exceeded" }],
    [{ kind: "silence" }, { category: "TIMEOUT", outage: true }],
  ])("%o", async (fault, expected) => {
    const { run, steps } = await place([{ ...submit(), fault }], {
      limits: { silenceMs: "kind" in fault && fault.kind === "silence" ? 50 : 8000 },
    });
    const error: unknown = await run().catch((thrown: unknown) => thrown);
    expect(classifyError(error)).toMatchObject(expected);
    expect(await run()).toMatchObject({ summary: "(simulated) done" });
    expect(steps.failures).toHaveLength(1);
  });
});
