import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { expect } from "vitest";
import { asOnlooker } from "../crash/support/onlooker.ts";
import { Program } from "../crash/support/program.ts";
import { until } from "../crash/support/until.ts";
import { callsPerMember, crowdReply, crowdUsage, tokensPerCall } from "../support/crowd.ts";
import type { DriveCrowdOptions } from "../support/drive-crowd.ts";
import { PaidModels } from "../support/paid-models.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse } from "./campaign.ts";

const model = "openai-compatible/llama-3.3-70b";
const plenty = 100_000_000;
const [size, mostKills] = [16, 8];
const calls = size * callsPerMember;
const limit = Math.floor((calls / 2) * tokensPerCall);
const key = "crowd";

/** Many models with half the budget that they need: lost answers count too, so the limit holds at every call. */
export async function killUnderBudget(seed: number): Promise<number> {
  const random = seededRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), "maestro-crowd-"));
  const stateDir = join(folder, "state");
  const models = await PaidModels.start(({ persona, answersBefore }) => crowdReply(persona, answersBefore), {
    paceMs: 5,
    usage: () => crowdUsage,
  });
  const programs: Program[] = [];
  const drive = (): Program => {
    const common = { stateDir, key, size, dayTokens: plenty, tokens: limit, model, env: models.server.env };
    const program = new Program("../../support/drive-crowd.ts", common satisfies DriveCrowdOptions);
    programs.push(program);
    return program;
  };
  let [allowed, most] = [limit, 0];
  models.onAnswer = ({ number }) => {
    most = Math.max(most, number * tokensPerCall - allowed);
  };
  try {
    let kills = 0;
    while (kills < mostKills) {
      const program = drive();
      const goal = models.log.length + 1 + Math.floor(random() * 3);
      await until("a model is asked", () => !program.isAlive || models.log.length >= goal);
      await pass(random() * 60);
      program.signal("SIGKILL");
      // The budget may be used up before all the kills are.
      if ((await program.ended).signal !== "SIGKILL") break;
      kills += 1;
    }
    expect(await endingOf(drive())).toMatchObject({
      status: "parked",
      reason: "budget",
      error: { details: { level: "session" } },
    });
    orElse("repeated", () => expect(most, "tokens asked over the limit").toBeLessThanOrEqual(0));
    await asOnlooker({ stateDir }, async (maestro) => {
      const { budgets } = await maestro.show(key);
      const session = budgets.find(({ level }) => level === "session");
      expect(session?.used.tokens).toBeLessThanOrEqual(limit);
      orElse("lost", () =>
        expect(session?.used.tokens).toBeGreaterThanOrEqual(models.log.length * tokensPerCall),
      );
      expect(session?.reserved.tokens).toBe(0);
      await maestro.setBudget(key, { tokens: plenty });
    });
    [allowed, most] = [plenty, 0];
    expect(await endingOf(drive())).toMatchObject({ status: "completed" });
    const { usage } = await asOnlooker({ stateDir }, (maestro) => maestro.show(key));
    expect(usage.calls - usage.unreportedCalls).toBe(calls);
    expect(new Set(models.log.map(({ hash }) => hash)).size, "different questions").toBe(calls);
    orElse("repeated", () =>
      expect(models.log.length - calls, "asked again").toBeLessThanOrEqual(usage.unreportedCalls),
    );
    return kills;
  } finally {
    for (const program of programs) await program.end();
    await models.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function endingOf(program: Program): Promise<unknown> {
  const { code, stdout, stderr } = await program.ended;
  expect(code, `stderr: ${stderr}`).toBe(0);
  return JSON.parse(stdout);
}
