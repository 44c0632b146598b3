import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { open } from "../../src/api/open.ts";
import { callsPerMember, crowdOf, crowdReply, crowdUsage } from "../support/crowd.ts";
import { PaidModels } from "../support/paid-models.ts";
import { runCrowd } from "../support/run-crowd.ts";

const model = "openai-compatible/llama-3.3-70b";
const prices = { [model]: { input: 1, output: 2 } };
/** A dollar per million tokens is a micro-dollar per token. */
const microUsdPerCall = crowdUsage.input + 2 * crowdUsage.output;
const plentyUsd = 1000;

let models: PaidModels;
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "maestro-budget-usd-"));
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

/** For every answer, before it is sent: the provider's bill, and what the ledger has used and reserved. */
function watchSpending(stateDir: string, level: "session" | "day", limitMicroUsd: number) {
  const watched = { allowed: limitMicroUsd };
  models.onAnswer = ({ number }) => {
    const { used, reserved } = readDollars(stateDir, level);
    expect.soft(number * microUsdPerCall, "billed by the provider").toBeLessThanOrEqual(watched.allowed);
    expect.soft(used + reserved, "used and promised").toBeLessThanOrEqual(watched.allowed);
    // The answer that is being sent is not settled yet, so it must be reserved.
    expect.soft(reserved, "promised").toBeGreaterThanOrEqual(microUsdPerCall);
  };
  return watched;
}

function readDollars(stateDir: string, level: "session" | "day"): { used: number; reserved: number } {
  const database = new DatabaseSync(join(stateDir, "maestro.db"), { readOnly: true });
  try {
    const [row] = database
      .prepare(
        "SELECT used_micro_usd AS used, reserved_micro_usd AS reserved FROM budget_totals WHERE level = ?",
      )
      .all(level);
    return { used: Number(row?.["used"] ?? 0), reserved: Number(row?.["reserved"] ?? 0) };
  } finally {
    database.close();
  }
}

test("64 parallel personas never exceed a dollar budget, and after a raise and a resume they finish without paying twice", async () => {
  const size = 64;
  const calls = size * callsPerMember;
  const limit = (calls / 2) * microUsdPerCall;
  const stateDir = join(folder, "state");
  const watched = watchSpending(stateDir, "session", limit);
  for (const [name, value] of Object.entries(models.server.env)) vi.stubEnv(name, value);
  const maestro = await open({ stateDir, prices });
  onTestFinished(() => maestro.close());
  const team = crowdOf(size, { usd: limit / 1e6 });
  const session = await maestro.start(team, { brief: "Be there.", model });
  const parked = await session.result();

  expect(parked).toMatchObject({ status: "parked", reason: "budget", error: { code: "BUDGET_EXCEEDED" } });
  const { used, asked, ...rest } = parked.error?.details ?? {};
  expect(rest).toMatchObject({ level: "session", name: session.id, unit: "usd", limit });
  expect(Number(used) + Number(asked)).toBeGreaterThan(limit);
  expect(parked.error?.advice).toContain(`maestro budget ${session.id} --usd`);
  const before = models.log.length;
  expect(before).toBeGreaterThan(0);
  expect(readDollars(stateDir, "session")).toEqual({ used: before * microUsdPerCall, reserved: 0 });
  // The rest is too little for one more call, and not half of the budget.
  expect(limit - before * microUsdPerCall).toBeLessThan(Number(asked));

  watched.allowed = plentyUsd * 1e6;
  await maestro.setBudget(session.id, { usd: plentyUsd });
  expect((await (await maestro.resume(session.id)).result()).status).toBe("completed");
  expect(models.log).toHaveLength(calls);
  expect(new Set(models.log.map(({ hash }) => hash)).size, "different questions").toBe(calls);
  expect(readDollars(stateDir, "session")).toEqual({ used: calls * microUsdPerCall, reserved: 0 });
});

test("4 processes share the day's dollar budget and never exceed it, and after a raise all finish", async () => {
  const [processes, size] = [4, 8];
  const calls = processes * size * callsPerMember;
  const limit = (calls / 2) * microUsdPerCall;
  const stateDir = join(folder, "state");
  const watched = watchSpending(stateDir, "day", limit);
  const drive = (dayUsd: number) =>
    Promise.all(
      Array.from({ length: processes }, (_, index) =>
        runCrowd({ stateDir, key: `crowd-${index}`, size, dayUsd, prices, model, env: models.server.env }),
      ),
    );

  const refused = (await drive(limit / 1e6)).filter(({ status }) => status !== "completed");
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, reason, error } of refused) {
    expect({ status, reason }).toEqual({ status: "parked", reason: "budget" });
    expect(error?.details).toMatchObject({ level: "day", unit: "usd", limit });
  }
  const spent = models.log.length * microUsdPerCall;
  expect(spent).toBeLessThanOrEqual(limit);
  expect(readDollars(stateDir, "day")).toEqual({ used: spent, reserved: 0 });

  watched.allowed = plentyUsd * 1e6;
  const finished = await drive(plentyUsd);
  expect(finished.map(({ status }) => status)).toEqual(Array(processes).fill("completed"));
  expect(models.log).toHaveLength(calls);
  expect(readDollars(stateDir, "day")).toEqual({ used: calls * microUsdPerCall, reserved: 0 });
});
