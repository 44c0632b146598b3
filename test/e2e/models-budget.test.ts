import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { type Maestro, open } from "../../src/api/open.ts";
import { defineTeam, persona, phase } from "../../src/index.ts";
import { callsPerMember, crowdOf, crowdReply, crowdUsage, tokensPerCall } from "../support/crowd.ts";
import { calls, ModelHive } from "../support/model-hive.ts";
import { PaidModels } from "../support/paid-models.ts";
import { runCrowd } from "../support/run-crowd.ts";

const model = "openai-compatible/llama-3.3-70b";
const plenty = 100_000_000;

let models: PaidModels;
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "maestro-budget-"));
  models = await PaidModels.start(({ persona, answersBefore }) => crowdReply(persona, answersBefore), {
    paceMs: 1,
    usage: () => crowdUsage,
  });
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await models.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The budget totals on disk at this moment. */
function readTotals(stateDir: string, level: "session" | "day"): { used: number; reserved: number } {
  const database = new DatabaseSync(join(stateDir, "maestro.db"), { readOnly: true });
  try {
    const [row] = database
      .prepare("SELECT used_tokens AS used, reserved_tokens AS reserved FROM budget_totals WHERE level = ?")
      .all(level);
    return { used: Number(row?.["used"] ?? 0), reserved: Number(row?.["reserved"] ?? 0) };
  } finally {
    database.close();
  }
}

async function openCrowd(stateDir: string, onModelStep: () => void): Promise<Maestro> {
  for (const [name, value] of Object.entries(models.server.env)) vi.stubEnv(name, value);
  const maestro = await open({
    stateDir,
    onEvent: (event) => {
      if (event.kind === "step" && event.name === model) onModelStep();
    },
  });
  onTestFinished(() => maestro.close());
  return maestro;
}

/** No call was made twice, and the ledger has every answer once. */
async function expectNothingPaidTwice(maestro: Maestro, sessions: readonly string[], calls: number) {
  expect(models.log).toHaveLength(calls);
  expect(new Set(models.log.map(({ hash }) => hash)).size, "different questions").toBe(calls);
  for (const session of sessions) {
    const { total } = await maestro.usage({ by: "persona", session });
    expect(total).toMatchObject({
      calls: calls / sessions.length,
      failedCalls: 0,
      estimatedTokens: 0,
      inputTokens: (crowdUsage.input * calls) / sessions.length,
      outputTokens: (crowdUsage.output * calls) / sessions.length,
    });
  }
}

test("64 parallel personas never exceed a token budget, and after a raise and a resume they finish without paying twice", async () => {
  const size = 64;
  const calls = size * callsPerMember;
  const limit = (calls / 2) * tokensPerCall;
  const stateDir = join(folder, "state");
  let settlements = 0;
  let mostUsed = 0;
  let mostAtServer = 0;
  let allowed = limit;
  models.onAnswer = ({ number }) => {
    mostAtServer = number * tokensPerCall;
    expect.soft(mostAtServer, "asked of the provider").toBeLessThanOrEqual(allowed);
  };
  const maestro = await openCrowd(stateDir, () => {
    const { used, reserved } = readTotals(stateDir, "session");
    settlements += 1;
    mostUsed = Math.max(mostUsed, used);
    expect.soft(used + reserved, "used and promised").toBeLessThanOrEqual(allowed);
  });
  const session = await maestro.start(crowdOf(size, { tokens: limit }), { brief: "Be there.", model });
  const parked = await session.result();

  expect(parked).toMatchObject({ status: "parked", reason: "budget" });
  const { level, name, unit, used, asked, ...rest } = parked.error?.details ?? {};
  expect({ level, name, unit, limit: rest["limit"] }).toEqual({
    level: "session",
    name: session.id,
    unit: "tokens",
    limit,
  });
  expect(Number(used) + Number(asked)).toBeGreaterThan(limit);
  expect(Number(used)).toBeLessThanOrEqual(limit);
  expect(parked.error).toMatchObject({ code: "BUDGET_EXCEEDED" });
  expect(parked.error?.advice).toContain(`maestro budget ${session.id} --tokens`);
  const [budget] = await maestro.budgets(session.id);
  expect(budget).toMatchObject({ level: "session", budget: { tokens: limit }, overrun: false });
  expect(budget?.used.tokens).toBe(models.log.length * tokensPerCall);
  expect(budget?.reserved.tokens).toBe(0);
  // The rest is too little for one more call, and not half of the budget.
  expect(limit - mostUsed).toBeLessThan(Number(asked));
  expect(settlements).toBe(models.log.length);
  const before = models.log.length;

  allowed = plenty;
  await maestro.setBudget(session.id, { tokens: plenty });
  const resumed = await (await maestro.resume(session.id)).result();
  expect(resumed.status).toBe("completed");
  const { artifacts } = await maestro.show(session.id);
  expect(artifacts).toHaveLength(size);
  expect(settlements - before, "only what was missing was asked for").toBe(calls - before);
  await expectNothingPaidTwice(maestro, [session.id], calls);
});

test("4 processes share the day's token budget and never exceed it, and after a raise all finish", async () => {
  const [processes, size] = [4, 8];
  const calls = processes * size * callsPerMember;
  const limit = (calls / 2) * tokensPerCall;
  const stateDir = join(folder, "state");
  let allowed = limit;
  models.onAnswer = ({ number }) => {
    expect.soft(number * tokensPerCall, "asked of the provider").toBeLessThanOrEqual(allowed);
    const { used, reserved } = readTotals(stateDir, "day");
    expect.soft(used + reserved, "used and promised").toBeLessThanOrEqual(allowed);
  };
  const drive = (dayTokens: number) =>
    Promise.all(
      Array.from({ length: processes }, (_, index) =>
        runCrowd({ stateDir, key: `crowd-${index}`, size, dayTokens, model, env: models.server.env }),
      ),
    );

  const parked = await drive(limit);
  const refused = parked.filter(({ status }) => status !== "completed");
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, reason, error } of refused) {
    expect({ status, reason }).toEqual({ status: "parked", reason: "budget" });
    const { level, limit: said, used, asked } = error?.details ?? {};
    expect({ level, said }).toEqual({ level: "day", said: limit });
    expect(Number(used) + Number(asked)).toBeGreaterThan(limit);
    expect(error?.advice).toContain("Raise budget.dayTokens in the configuration");
  }
  const { used, reserved } = readTotals(stateDir, "day");
  expect({ used, reserved }).toEqual({ used: models.log.length * tokensPerCall, reserved: 0 });
  expect(used).toBeLessThanOrEqual(limit);

  allowed = plenty;
  const finished = await drive(plenty);
  expect(finished.map(({ status }) => status)).toEqual(Array(processes).fill("completed"));
  const maestro = await openCrowd(stateDir, () => {});
  await expectNothingPaidTwice(
    maestro,
    finished.map(({ id }) => id),
    calls,
  );
});

test("a long text needs room for its worst case in the budget, and the difference is released afterwards", async () => {
  const content = "What was paid for is never asked again, and a budget that was set is kept.\n".repeat(900);
  const hive = await ModelHive.open(({ answersBefore, bytes }) => ({
    ...(answersBefore === 0
      ? calls("write_file", { path: "long.md", content })
      : calls("submit", { summary: "done" })),
    usage: { input: Math.ceil(bytes / 4), cached: 0, cacheWrite: 0, output: 100, reasoning: 0 },
  }));
  const budget = { tokens: 60_000 };
  const writer = persona("writer", { instructions: "Write long.md." });
  const team = defineTeam("wordy", { budget, phases: [phase("only", { personas: [writer] })] });
  expect(Buffer.byteLength(content)).toBeGreaterThan(budget.tokens);
  const { result } = await hive.run(team, { model });
  expect(result.status).toBe("completed");
  const [left] = await hive.maestro.budgets(result.id);
  expect(left?.used.tokens).toBeLessThan(25_000);
  expect(left?.reserved.tokens).toBe(0);
});

test("a server that reports one token for every call does not bypass a budget", async () => {
  const page = "What was paid for is never asked again, and a budget that was set is kept.\n".repeat(130);
  const hive = await ModelHive.open(({ answersBefore }) => ({
    ...(answersBefore < 40
      ? calls("write_file", { path: `${answersBefore}.md`, content: page })
      : calls("submit", { summary: "done" })),
    usage: { input: 1, cached: 0, cacheWrite: 0, output: 1, reasoning: 0 },
  }));
  const budget = { tokens: 60_000 };
  const writer = persona("writer", { instructions: "Write it all." });
  const team = defineTeam("wordy", { budget, phases: [phase("only", { personas: [writer] })] });
  const { result, view } = await hive.run(team, { model });
  expect(result).toMatchObject({ status: "parked", reason: "budget" });
  const sentBytes = hive.models.log.reduce((sum, { bytes }) => sum + bytes, 0);
  expect(sentBytes / 4).toBeLessThan(budget.tokens);
  expect(view.usage.estimatedTokens).toBeGreaterThan(sentBytes / 4);
});
