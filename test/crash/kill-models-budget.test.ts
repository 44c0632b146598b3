import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { callsPerMember, crowdReply, crowdUsage, tokensPerCall } from "../support/crowd.ts";
import type { DriveCrowdOptions } from "../support/drive-crowd.ts";
import { PaidModels } from "../support/paid-models.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { open } from "./support/package.ts";
import { Program } from "./support/program.ts";
import { openStore } from "./support/recorded.ts";
import { until } from "./support/until.ts";

const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 32));
const model = "openai-compatible/llama-3.3-70b";
const plenty = 100_000_000;
const [size, kills] = [16, 8];
const calls = size * callsPerMember;

let models: PaidModels;
let folder: string;
const programs: Program[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "maestro-crowd-"));
  models = await PaidModels.start(({ persona, answersBefore }) => crowdReply(persona, answersBefore), {
    paceMs: 5,
    usage: () => crowdUsage,
  });
});

afterEach(async () => {
  for (const program of programs.splice(0)) await program.end();
  await models.close();
  rmSync(folder, { recursive: true, force: true });
});

it(`killed up to ${kills} times, what was lost counts too: the budget holds, and only lost answers are paid twice (TEST_SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  const limit = Math.floor((calls / 2) * tokensPerCall);
  const stateDir = join(folder, "state");
  let allowed = limit;
  models.onAnswer = ({ number }) => {
    expect.soft(number * tokensPerCall, "asked of the provider").toBeLessThanOrEqual(allowed);
  };
  const drive = (): Program => {
    const options: DriveCrowdOptions = {
      stateDir,
      key: "crowd",
      size,
      dayTokens: plenty,
      tokens: limit,
      model,
      env: models.server.env,
    };
    const program = new Program("../../support/drive-crowd.ts", options);
    programs.push(program);
    return program;
  };

  for (let killed = 0; killed < kills; killed += 1) {
    const program = drive();
    const goal = models.log.length + 1 + Math.floor(random() * 3);
    await until("something is asked", () => !program.isAlive || models.log.length >= goal);
    await pass(random() * 60);
    program.signal("SIGKILL");
    // The budget may be gone before all the kills are.
    if ((await program.ended).signal !== "SIGKILL") break;
  }
  const parked = await endingOf(drive());
  expect(parked).toMatchObject({
    status: "parked",
    reason: "budget",
    error: { details: { level: "session" } },
  });
  const { used, reserved } = await totals(stateDir);
  expect(used).toBeLessThanOrEqual(limit);
  expect(used).toBeGreaterThanOrEqual(models.log.length * tokensPerCall);
  expect(reserved).toBe(0);

  allowed = plenty;
  const maestro = await open({ stateDir });
  await maestro.setBudget("crowd", { tokens: plenty });
  await maestro.close();
  expect(await endingOf(drive())).toMatchObject({ status: "completed" });
  const rows = await ledger(stateDir);
  const settled = rows.filter(({ status }) => status === "settled");
  expect(settled).toHaveLength(calls);
  expect(new Set(models.log.map(({ hash }) => hash)).size, "different questions").toBe(calls);
  expect(models.log.length - calls, "asked again").toBeLessThanOrEqual(rows.length - calls);
});

async function endingOf(program: Program): Promise<unknown> {
  const { code, stdout, stderr } = await program.ended;
  expect(code, `stderr: ${stderr}`).toBe(0);
  return JSON.parse(stdout);
}

async function totals(stateDir: string): Promise<{ used: number; reserved: number }> {
  return withStore(stateDir, async (store, id) => {
    const found = (await store.ledger.totals(id)).find(({ level }) => level === "session");
    return { used: found?.used.tokens ?? -1, reserved: found?.reserved.tokens ?? -1 };
  });
}

function ledger(stateDir: string) {
  return withStore(stateDir, (store, id) => store.ledger.calls(id));
}

type OpenStore = ReturnType<typeof openStore>;
type Found = NonNullable<Awaited<ReturnType<OpenStore["findSession"]>>>;

async function withStore<T>(
  stateDir: string,
  read: (store: OpenStore, id: Found["id"]) => Promise<T>,
): Promise<T> {
  const store = openStore(stateDir);
  try {
    const session = await store.findSession("crowd");
    if (session === undefined) throw new Error("there is no session");
    return await read(store, session.id);
  } finally {
    await store.close();
  }
}
