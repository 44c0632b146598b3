import { afterEach, expect, test } from "vitest";
import { runModelPersona } from "../../../src/personas/model/model-persona.ts";
import { resolveModel } from "../../../src/personas/model/resolve-model.ts";
import { classifyError } from "../../../src/run/failure/classify-error.ts";
import { LoopbackModels, type Reaction } from "../../support/loopback-models.ts";
import { MemoryFiles } from "../../support/memory-files.ts";
import { RecordingSteps } from "../../support/recording-steps.ts";
import { adviseEdit, someWork } from "./persona-place.ts";
import { wireModels } from "./wire-place.ts";

let server: LoopbackModels;
afterEach(() => server.close());

async function run(name: string, script: readonly Reaction[]) {
  server = await LoopbackModels.start(script);
  const { model } = await resolveModel(name, { env: server.env });
  const files = new MemoryFiles();
  const work = runModelPersona(someWork(), {
    model,
    files,
    adviseEdit,
    runStep: new RecordingSteps().runStep,
    signal: new AbortController().signal,
    runCheck: () => Promise.reject(new Error("no checks")),
    maxOutputTokens: 500,
  });
  return { result: await work, files };
}

const write = { id: "w", tool: "write_file", input: { path: "a.md", content: "half of i" } };
const submit = { id: "s", tool: "submit", input: { summary: "done" } };

test.each(wireModels)(
  "%s: calls of an answer that was cut are not run, and the model is told",
  async (name) => {
    const { result, files } = await run(name, [
      { text: "Now", calls: [write, submit], cutAtLimit: true },
      { calls: [{ ...write, input: { path: "a.md", content: "all of it" } }] },
      { calls: [submit] },
    ]);
    expect(result.summary).toBe("done");
    expect(files.contents).toEqual({ "a.md": "all of it" });
    expect(server.requests[1]?.text).toContain(
      "cut before its end, and no tool call in it was run. It may have 500 tokens at most.",
    );
    expect(server.requests[1]?.text).not.toContain("half of i");
  },
);

test("a model whose answers are cut again and again fails on quality", async () => {
  const script = [{ text: "So much to say", cutAtLimit: true }];
  const error: unknown = await run("anthropic/claude-sonnet-4-5", script).catch((thrown: unknown) => thrown);
  expect((error as Error).message).toBe("analyst had 3 answers cut at 500 tokens.");
  expect(classifyError(error)).toMatchObject({ category: "CONTRACT", outage: false, recoverable: true });
  expect(server.requests).toHaveLength(3);
});

test("cuts with work in between are not the same cut again and again", async () => {
  const cut = { text: "So much to say", cutAtLimit: true };
  const part = (path: string) => ({
    calls: [{ id: "w", tool: "write_file", input: { path, content: "x" } }],
  });
  const { result, files } = await run("anthropic/claude-sonnet-4-5", [
    cut,
    cut,
    part("a.md"),
    cut,
    part("b.md"),
    { calls: [submit] },
  ]);
  expect(result.summary).toBe("done");
  expect(Object.keys(files.contents)).toEqual(["a.md", "b.md"]);
});
