import { jsonSchema, tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { emptyContract } from "../../../src/domain/contract.ts";
import { keepSecret } from "../../../src/domain/redact.ts";
import { type OwnTools, offeredTools } from "../../../src/personas/tools/offered-tools.ts";
import type { OwnTool } from "../../../src/personas/tools/own-tool.ts";
import { place } from "./persona-place.ts";

const submit = { calls: [{ tool: "submit", input: { summary: "done" } }] };
const anything = jsonSchema({ type: "object" });

/** The result of one call for the model, and the record of it. */
async function call(own: OwnTool, input: object = {}, signal?: AbortSignal) {
  const owned: OwnTools = { lookup: { ...own, repeatable: true } };
  const tools = await offeredTools(
    "analyst",
    {
      tools: [{ own: "lookup", repeatable: true }],
      ownTools: owned,
      shellEffect: "repeatable",
      webHosts: [],
      approve: [],
    },
    emptyContract,
  );
  const calls = { calls: [{ tool: "lookup", input: input as Record<string, never> }] };
  const { run, steps } = await place([calls, submit], { tools, ...(signal && { signal }) });
  const ended = await run().catch((error: unknown) => error);
  const record = steps.records.find(({ kind }) => kind === "tool");
  const second = steps.asked.filter((asked) => asked.includes('"prompt"'))[1] ?? "";
  return { ended, recorded: JSON.parse(record?.body ?? "null") as Record<string, unknown> | null, second };
}

test("a tool of the AI SDK with a zod schema gets the values that its schema makes of the arguments", async () => {
  const own = tool({
    description: "Finds a street.",
    inputSchema: z.object({ city: z.string(), limit: z.number().default(3) }),
    execute: async ({ city, limit }) => ({ streets: [`${city} 1`], limit }),
  });
  const { recorded, second } = await call(own, { city: "Lisbon" });
  expect(recorded).toMatchObject({ kind: "done", value: { streets: ["Lisbon 1"], limit: 3 } });
  expect(second).toContain("Lisbon 1");
});

test("a tool with a plain JSON Schema is judged by it", async () => {
  const inputSchema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const own = { description: "Finds.", inputSchema, execute: () => "found" };
  expect((await call(own, { city: 5 })).second).toContain("/city");
  expect((await call(own, { city: "Lisbon" })).recorded).toMatchObject({ kind: "done", output: "found" });
});

test("a schema that is no object is refused with the name of the tool", async () => {
  const own = { inputSchema: z.string(), execute: () => "x" };
  await expect(call(own)).rejects.toThrow(
    "The inputSchema of the tool lookup of persona analyst is not of type object.",
  );
  await expect(call({ inputSchema: 5, execute: () => "x" })).rejects.toThrow(
    "cannot be written as JSON Schema",
  );
});

test("a tool that throws gives the model its message, and the attempt continues", async () => {
  const { ended, recorded } = await call({
    inputSchema: anything,
    execute: () => {
      throw new Error("no such street");
    },
  });
  expect(recorded).toEqual({ kind: "failed", message: "no such street" });
  expect(ended).toMatchObject({ summary: expect.stringContaining("done") });
});

test("a tool that hangs is given up after its own time limit", async () => {
  const own = { inputSchema: anything, timeoutMs: 20, execute: () => new Promise(() => {}) };
  expect((await call(own)).recorded).toEqual({
    kind: "failed",
    message: "lookup did not end within 20 ms.",
  });
});

test("a tool that ignores its signal does not hold up an aborted attempt", async () => {
  const abort = new AbortController();
  const own = {
    inputSchema: anything,
    execute: () => {
      setImmediate(() => abort.abort(new Error("stopped")));
      return new Promise(() => {});
    },
  };
  const { ended } = await call(own, {}, abort.signal);
  expect(ended).toMatchObject({ message: "stopped" });
});

test("a result of 100 MB is cut for the model and for the record", async () => {
  const { recorded } = await call({ inputSchema: anything, execute: () => "x".repeat(100_000_000) });
  expect(JSON.stringify(recorded).length).toBeLessThan(100_000);
  expect(recorded?.["output"]).toContain("[cut: ");
  const rows = await call({
    inputSchema: anything,
    execute: () => Array.from({ length: 1_000_000 }, (_, row) => ({ row, text: "street" })),
  });
  expect(JSON.stringify(rows.recorded).length).toBeLessThan(100_000);
});

test("binary, circular and other values that are no JSON are described instead", async () => {
  const circular: Record<string, unknown> = { name: "a" };
  circular["self"] = circular;
  const returned = {
    image: Buffer.alloc(1_000),
    circular,
    big: 10n,
    nan: Number.NaN,
    at: new Date(0),
    map: new Map([["a", 1]]),
    error: new TypeError("bad"),
    skipped: () => 1,
    get broken(): never {
      throw new Error("no");
    },
  };
  const { recorded } = await call({ inputSchema: anything, execute: () => returned });
  expect(recorded).toMatchObject({ output: expect.stringContaining("unreadable") });
  const { broken: _, ...readable } = Object.getOwnPropertyDescriptors(returned);
  const good = await call({ inputSchema: anything, execute: () => Object.defineProperties({}, readable) });
  expect(good.recorded?.["value"]).toEqual({
    image: "[binary data: 1000 bytes]",
    circular: { name: "a", self: "[circular]" },
    big: "10",
    nan: "NaN",
    at: "1970-01-01T00:00:00.000Z",
    map: [["a", 1]],
    error: { name: "TypeError", message: "bad" },
  });
});

test("secrets in a result are masked before the model and the record get it", async () => {
  keepSecret(["hunter2-canary-value"]);
  const { recorded, second } = await call({
    inputSchema: anything,
    execute: () => ({ note: "the value is hunter2-canary-value", key: "sk-abcdefghijklmnop1234" }),
  });
  expect(JSON.stringify(recorded)).not.toMatch(/hunter2|abcdefghijklmnop/);
  expect(second).not.toMatch(/hunter2|abcdefghijklmnop/);
});

test("a tool that yields has its last value as the result", async () => {
  const own = {
    inputSchema: anything,
    async *execute() {
      yield "searching";
      yield "found";
    },
  };
  expect((await call(own)).recorded).toMatchObject({ output: "found" });
});

test("a tool that the persona does not have is not offered, and the prompt does not name it", async () => {
  const tools = await offeredTools(
    "analyst",
    { tools: ["read_file", "submit"], ownTools: {}, approve: [], shellEffect: "repeatable", webHosts: [] },
    emptyContract,
  );
  const { run, steps } = await place([submit], { tools });
  await run();
  const [asked = ""] = steps.asked;
  expect(asked).toContain('"name":"read_file"');
  expect(asked).not.toMatch(/write_file|edit_file|run_check/);
});
