import { afterEach, describe, expect, test } from "vitest";
import type { PersonaReturn } from "../../../src/personas/model/answer.ts";
import { runModelPersona } from "../../../src/personas/model/model-persona.ts";
import { resolveModel } from "../../../src/personas/model/resolve-model.ts";
import {
  type LoopbackModels,
  type ModelRequest,
  LoopbackModels as Models,
  type Reaction,
} from "../../support/loopback-models.ts";
import { type Blobs, MemoryFiles } from "../../support/memory-files.ts";
import { RecordingSteps } from "../../support/recording-steps.ts";
import { adviseEdit, someWork } from "./persona-place.ts";
import { wireModels } from "./wire-place.ts";

const call = (
  tool: string,
  input: object,
  more: Partial<Exclude<Reaction, { fault: string }>> = {},
): Reaction => ({
  text: `Now ${tool}.`,
  reasoning: "Let me think.",
  calls: [{ id: "call", tool, input }],
  ...more,
});

/** Ten answers, with whatever makes a replay hard: duplicate ids, errors, wrong calls, a nudge, several calls at once. */
const conversation: readonly Reaction[] = [
  call("list_files", {}),
  call("write_file", { path: "a.md", content: "# A\nfirst\n" }),
  call("edit_file", { path: "a.md", edits: [{ find: "first", replace: "second" }] }),
  call("read_file", { path: "missing.md" }),
  call("no_such_tool", { x: 1 }),
  call("read_file", { path: 5 }),
  {
    calls: [
      { id: "same", tool: "write_file", input: { path: "b.md", content: "b" } },
      { id: "same", tool: "read_file", input: { path: "a.md" } },
    ],
  },
  { text: "I think I am done." },
  call("search_files", { pattern: "sec" }),
  call("submit", { summary: "done", outputs: { files: 2 } }),
];

const servers: LoopbackModels[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Which answer comes next is seen from the conversation itself, so that a server that was not asked before can go on. */
function answersSoFar({ body }: ModelRequest): number {
  const turns = (body["messages"] ?? body["contents"] ?? body["input"]) as readonly Record<string, unknown>[];
  const texts = JSON.stringify(turns);
  const marks = conversation.slice(0, -1).map((_, index) => index);
  return marks.filter((index) => texts.includes(`mark-${index}-`)).length;
}

/** Each answer carries a mark that the next prompt repeats. */
const marked = (index: number): Reaction => {
  const reaction = conversation[index] as Exclude<Reaction, { fault: string }>;
  return { ...reaction, text: `mark-${index}- ${reaction.text ?? ""}` };
};

async function drive(name: string, steps: RecordingSteps, blobs: Blobs) {
  const server = await Models.start();
  servers.push(server);
  server.react = (request) => marked(answersSoFar(request));
  const { model } = await resolveModel(name, { env: server.env });
  const files = new MemoryFiles({ "given.md": "given" }, blobs);
  const result: PersonaReturn = await runModelPersona(someWork(), {
    model,
    files,
    adviseEdit,
    runStep: steps.runStep,
    signal: new AbortController().signal,
    runCheck: () => Promise.reject(new Error("no checks")),
  });
  return { result, files: files.contents, requests: server.requests.map(({ text }) => text) };
}

describe.each(wireModels)("%s: a conversation of ten answers", (name) => {
  test("resumes after any record with the same prompts and repeats no recorded call", {
    timeout: 60_000,
  }, async () => {
    const blobs: Blobs = new Map();
    const first = new RecordingSteps();
    const whole = await drive(name, first, blobs);
    expect(whole.requests).toHaveLength(10);
    expect(whole.files).toEqual({ "given.md": "given", "a.md": "# A\nsecond\n", "b.md": "b" });
    expect(whole.result).toEqual({ summary: "done", outputs: { files: 2 }, decisions: [] });
    const kinds = first.records.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "tool")).toHaveLength(7);

    for (let killedAfter = 0; killedAfter <= first.records.length; killedAfter += 1) {
      const later = first.after(killedAfter);
      const rest = await drive(name, later, blobs);
      const recordedCalls = kinds.slice(0, killedAfter).filter((kind) => kind === "model").length;
      // Byte for byte what was sent the first time, from the first call that was not recorded.
      expect(rest.requests).toEqual(whole.requests.slice(recordedCalls));
      expect(rest.result).toEqual(whole.result);
      expect(rest.files).toEqual(whole.files);
      expect(later.asked).toEqual(first.asked);
      expect(later.records).toEqual(first.records);
    }
  });
});
