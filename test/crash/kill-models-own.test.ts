import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Prices } from "../../src/cost/prices.ts";
import type { ModelTurn } from "../support/loopback-model-turn.ts";
import { LoopbackModels, modelKey } from "../support/loopback-models.ts";
import type { DriveOwnAgentOptions } from "./support/drive-own-agent.ts";
import { Program } from "./support/program.ts";
import { openStore } from "./support/recorded.ts";

const usage = { input: 1200, cached: 1000, cacheWrite: 0, output: 80, reasoning: 30 };
const answers: readonly ModelTurn[] = ["the plan", "the work", "well done"].map((text) => ({ text, usage }));

let server: LoopbackModels;
let folder: string;
const programs: Program[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "maestro-own-"));
  server = await LoopbackModels.start();
});

afterEach(async () => {
  for (const program of programs.splice(0)) await program.end();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function drive(usd?: number): Program {
  const options: DriveOwnAgentOptions = {
    stateDir: join(folder, "state"),
    baseURL: `${server.url}/v1`,
    apiKey: modelKey,
    ...(usd !== undefined && { usd }),
  };
  const program = new Program("drive-own-agent.ts", options);
  programs.push(program);
  return program;
}

async function outputOf(program: Program) {
  const { code, stdout, stderr } = await program.ended;
  expect(code, `stderr: ${stderr}`).toBe(0);
  return JSON.parse(stdout);
}

/** Answers by prompt; the process is killed while the call with this number is in flight. */
function answerAndKillAt(question: number): string[] {
  const asked: string[] = [];
  server.react = ({ text }) => {
    const which = ["Plan it.", "Do this: the plan", "Judge this: the work"].findIndex((prompt) =>
      text.includes(prompt),
    );
    asked.push(String(which));
    if (asked.length === question) programs.at(-1)?.signal("SIGKILL");
    return answers[which] ?? { text: "?" };
  };
  return asked;
}

it.each([1, 2, 3])("your own agent does not repeat recorded calls after a kill at call %i", async (at) => {
  const asked = answerAndKillAt(at);
  expect((await drive().ended).signal).toBe("SIGKILL");
  const { ending, usage: reported } = await outputOf(drive());
  expect(ending).toMatchObject({
    status: "completed",
    results: { only: { agent: { summary: "well done", outputs: { plan: "the plan" } } } },
  });
  const expected = ["0", "1", "2"];
  expected.splice(at, 0, String(at - 1));
  expect(asked).toEqual(expected);

  const price = await new Prices().of("openai/gpt-5");
  const paid = price?.cost({
    inputTokens: usage.input,
    cachedInputTokens: usage.cached,
    cacheWriteTokens: 0,
    outputTokens: usage.output,
    reasoningTokens: usage.reasoning,
  });
  expect(paid).toBeGreaterThan(0);
  expect(reported).toMatchObject({
    calls: 4,
    inputTokens: 3 * usage.input,
    outputTokens: 3 * usage.output,
  });
  expect(reported.knownCostUsd).toBeCloseTo((3 * Number(paid)) / 1_000_000, 9);
  expect(reported.estimatedTokens).toBeGreaterThan(500);
  expect(reported.saved.resume.tokens).toBe((at - 1) * (usage.input + usage.output));

  const store = openStore(join(folder, "state"));
  const session = await store.findSession("own");
  const rows = session === undefined ? [] : await store.reports.calls(session.id);
  await store.close();
  const statuses = ["settled", "settled", "settled"];
  statuses.splice(at - 1, 0, "estimated");
  expect(rows.map(({ status }) => status)).toEqual(statuses);
});

it("an outage of your own agent's model counts for the breaker, and only the failed call is repeated", async () => {
  const asked = answerAndKillAt(Number.POSITIVE_INFINITY);
  const answer = server.react;
  server.react = (request) => {
    const usual = answer?.(request) ?? {};
    return asked.length === 2
      ? { fault: "refuse", status: 500, code: "server_error", message: "Broken." }
      : usual;
  };
  const { ending, usage: reported, breakers } = await outputOf(drive());
  expect(ending).toMatchObject({ status: "completed" });
  expect(asked).toEqual(["0", "1", "1", "2"]);
  expect(breakers).toEqual(["openai/gpt-5"]);
  expect(reported).toMatchObject({
    calls: 4,
    failedCalls: 1,
    inputTokens: 3 * usage.input,
  });
  // A failing gateway may have billed an answer that it lost.
  expect(reported.estimatedTokens).toBeGreaterThan(500);
});

it("your own agent's call is checked against the budget before it is made", async () => {
  const { ending, usage: reported } = await outputOf(drive(0.0001));
  expect(ending).toMatchObject({
    status: "parked",
    reason: "budget",
    error: { code: "BUDGET_EXCEEDED", details: { level: "session", unit: "usd", limit: 100, used: 0 } },
  });
  expect(server.requests).toEqual([]);
  expect(reported.calls).toBe(0);
});
