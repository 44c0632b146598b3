import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isolatedTeam } from "../../../src/api/isolated-team.ts";
import { defineTeam, open, persona, phase, type Team } from "../../../src/index.ts";
import { readRecorded } from "../../crash/support/recorded.ts";

const file = join(import.meta.dirname, "programs", "tools-team.ts");

let folder: string;
let calls: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "maestro-own-tools-"));
  calls = join(folder, "calls.txt");
  writeFileSync(calls, "");
  vi.stubEnv("OWN_TOOL_CALLS", calls);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const submit = { calls: [{ tool: "submit", input: { summary: "done" } }] };
const lookup = (city: string) => ({ calls: [{ tool: "lookup", input: { city } }] });
const notes = { calls: [{ tool: "write_file", input: { path: "notes.md", content: "n\n" } }] };

/** Runs the team and gives what it recorded, and who called. */
async function run(team: Team, cities: readonly string[], state = "state") {
  const script = join(folder, "script.json");
  const personas = { dev: [[...cities.map(lookup), notes, submit]] };
  writeFileSync(script, JSON.stringify({ personas }));
  const stateDir = join(folder, state);
  const maestro = await open({ stateDir, script });
  const session = await maestro.start(team, { brief: "streets", key: "k" });
  const { status, results, error } = await session.result();
  await maestro.close();
  const { rows } = await readRecorded(stateDir, "k");
  const tools = rows.filter(({ kind }) => kind === "step.tool").map(({ name, body }) => ({ name, body }));
  const lines = readFileSync(calls, "utf8").split("\n").filter(Boolean);
  return { status, results, error: error?.message, tools, lines };
}

async function load(): Promise<Team> {
  return ((await import("./programs/tools-team.ts")) as { default: Team }).default;
}

test("a model and a function call tools of the team's code, each call is one recorded step", async () => {
  const { status, error, results, tools, lines } = await run(await load(), ["Porto", "nowhere"]);
  expect(error).toBeUndefined();
  expect(status).toBe("completed");
  expect(tools.map(({ name }) => name)).toEqual([
    "lookup",
    "lookup",
    "write_file",
    "write_file",
    "lookup",
    "read_file",
  ]);
  expect(tools[0]?.body).toContain("Porto street");
  expect(tools[1]?.body).toContain("there is no such city");
  // The SDK hands on what the author's schema made of the arguments.
  expect(tools[4]?.body).toContain('"isDate":true');
  expect(results["function"]?.["agent"]).toMatchObject({
    summary: expect.stringContaining("All streets are known."),
    outputs: { read: "Lisbon", names: ["read_file", "write_file", "lookup"] },
  });
  expect(lines.map((line) => line.split(" ")[0])).toEqual(["Porto", "nowhere", "Lisbon"]);
});

test("under a server the code of tools runs in processes of its own and records the same", async () => {
  const team = await load();
  const here = await run(team, ["Porto", "nowhere"], "here");
  writeFileSync(calls, "");
  const isolated = isolatedTeam(team, file, { memoryMb: 512, prices: undefined });
  const there = await run(isolated, ["Porto", "nowhere"], "there");
  expect({ ...there, lines: [] }).toEqual({ ...here, lines: [] });
  expect(there.lines.map((line) => line.split(" ")[0])).toEqual(["Porto", "nowhere", "Lisbon"]);
  expect(there.lines.some((line) => line.endsWith(` ${process.pid}`))).toBe(false);
});

test("a tool that ends its process under a server has failed, and the model gets the failure", async () => {
  const team = isolatedTeam(await load(), file, { memoryMb: 512, prices: undefined });
  const { status, tools } = await run(team, ["exit"]);
  expect(tools[0]?.body).toContain("The process of the tool lookup ended before the tool did.");
  expect(status).toBe("completed");
});

test("a recorded session with tools of code needs the code to continue", async () => {
  const tools = { look: { inputSchema: { type: "object" }, execute: () => "x" } };
  const team = defineTeam("coded", {
    model: "simulated",
    phases: [phase("work", { personas: [persona("dev", { instructions: "Do it.", tools })] })],
  });
  const stateDir = join(folder, "state");
  const first = await open({ stateDir });
  await first.create(team, { brief: "x", key: "k" });
  await first.close();
  const again = await open({ stateDir });
  const { error } = await (await again.resume("k"))
    .result()
    .catch((thrown: unknown) => ({ error: thrown as Error }));
  expect(error?.message).toContain("The tool look of persona dev is missing.");
  await again.close();
});

test.each([
  [{ read_file: { inputSchema: {}, execute: () => 1 } }, "tools.read_file is the name of a built-in tool"],
  [{ "a b": { inputSchema: {}, execute: () => 1 } }, "is no name for a tool"],
  [{ look: { inputSchema: {} } }, "tools.look has no function execute"],
  [{ look: { execute: () => 1 } }, "tools.look has no inputSchema"],
  [{ look: "x" }, "it must be true or a tool"],
  [{ shell: true }, "there is no such tool"],
])("a wrong tool is an error of the team before anything runs: %j", (tools, problem) => {
  const define = () =>
    defineTeam("wrong", {
      phases: [phase("work", { personas: [persona("dev", { instructions: "x", tools: tools as never })] })],
    });
  expect(define).toThrow(problem);
});
