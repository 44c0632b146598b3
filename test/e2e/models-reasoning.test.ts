import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { defineTeam, persona, phase } from "../../src/index.ts";
import { calls, ModelHive } from "../support/model-hive.ts";

type Level = "none" | "low" | "medium" | "high" | "max";

const team = (reasoning?: Level) =>
  defineTeam("thinkers", {
    budget: { tokens: 1_000_000 },
    phases: [
      phase("only", {
        personas: [persona("thinker", { instructions: "Think.", ...(reasoning && { reasoning }) })],
      }),
    ],
  });

const submits = () => calls("submit", { summary: "done" });

/** The one request and the tokens that were reserved for it. */
async function asked(model: string, reasoning?: Level) {
  const hive = await ModelHive.open(submits);
  const { result } = await hive.run(team(reasoning), { model });
  expect(result.status).toBe("completed");
  const database = new DatabaseSync(join(hive.stateDir, "maestro.db"), { readOnly: true });
  const [row] = database.prepare("SELECT asked_tokens AS asked FROM ledger").all();
  database.close();
  return { body: hive.models.server.requests[0]?.body ?? {}, reserved: Number(row?.["asked"]) };
}

test.each<[Level, unknown, number]>([
  ["none", { type: "disabled" }, 8_192],
  ["low", { type: "enabled", budget_tokens: 2_048 }, 10_240],
  ["high", { type: "enabled", budget_tokens: 16_384 }, 24_576],
  ["max", { type: "enabled", budget_tokens: 24_576 }, 32_768],
])("anthropic gets reasoning %s as a budget of tokens", async (level, thinking, most) => {
  const { body, reserved } = await asked("anthropic/claude-sonnet-4-5", level);
  expect(body).toMatchObject({ thinking, max_tokens: most });
  expect(reserved, "answer and thoughts are reserved").toBeGreaterThan(most);
});

test("newer Claude models get the level itself, and room for thoughts within the limit", async () => {
  const { body, reserved } = await asked("anthropic/claude-opus-4-6", "high");
  expect(body).toMatchObject({ thinking: { type: "adaptive" }, max_tokens: 8_192 + 16_384 });
  expect(JSON.stringify(body)).toContain('"effort":"high"');
  expect(reserved).toBeGreaterThan(24_576);
});

test.each<[Level, string]>([
  ["low", "low"],
  ["medium", "medium"],
  ["high", "high"],
])("openai gets reasoning %s as an effort", async (level, effort) => {
  const { body } = await asked("openai/gpt-5", level);
  expect(body).toMatchObject({ reasoning: { effort } });
});

test("google gets a budget of thoughts within the limit of the output", async () => {
  const { body } = await asked("google/gemini-2.5-pro", "medium");
  expect(body).toMatchObject({ generationConfig: { maxOutputTokens: 16_384 } });
  expect(JSON.stringify(body)).toContain("thinkingBudget");
});

test("an openai-compatible server gets the effort by its name", async () => {
  const { body } = await asked("openai-compatible/llama-3.3-70b", "high");
  expect(body).toMatchObject({ reasoning_effort: "high" });
});

test("without reasoning nothing is said about thoughts, and none are reserved", async () => {
  const { body, reserved } = await asked("anthropic/claude-sonnet-4-5");
  expect(body).toMatchObject({ max_tokens: 8_192 });
  expect(body).not.toHaveProperty("thinking");
  const thinking = await asked("anthropic/claude-sonnet-4-5", "high");
  expect(thinking.reserved - reserved).toBeGreaterThanOrEqual(16_384);
});
