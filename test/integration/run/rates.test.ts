import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { SessionId } from "../../../src/domain/ids.ts";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import {
  defineTeam,
  type Maestro,
  type OpenOptions,
  open,
  type PersonaContext,
  persona,
  phase,
  type SessionEvent,
} from "../../../src/index.ts";
import { sentenceOf } from "../../../src/journal/facts.ts";
import { restAfterMs } from "../../../src/run/rest.ts";
import { answer, ask, ownModel } from "./own-models.ts";

const minuteMs = 60_000;

interface Here {
  readonly clock: ManualClock;
  readonly maestro: Maestro;
  readonly events: SessionEvent[];
  readonly pass: (isTrue: () => boolean | Promise<boolean>) => Promise<void>;
}

async function here(options: OpenOptions = {}): Promise<Here> {
  const stateDir = await mkdtemp(join(tmpdir(), "maestro-rates-"));
  const clock = new ManualClock();
  const events: SessionEvent[] = [];
  const maestro = await open({ stateDir, clock, onEvent: (event) => events.push(event), ...options });
  onTestFinished(async () => {
    await maestro.close();
    await rm(stateDir, { recursive: true, force: true });
  });
  const pass = async (isTrue: () => boolean | Promise<boolean>): Promise<void> => {
    await vi.waitUntil(
      async () => {
        if (await isTrue()) return true;
        await clock.advance(restAfterMs);
        return isTrue();
      },
      { timeout: 60_000, interval: 10 },
    );
  };
  return { clock, maestro, events, pass };
}

/** One call of a model, and nothing else. */
const asking = (limits?: Parameters<typeof defineTeam>[1]["limits"]) =>
  defineTeam("asking", {
    ...(limits !== undefined && { limits }),
    phases: [
      phase("only", { personas: [persona("asked", { instructions: "Answer.", model: "simulated" })] }),
    ],
  });

const completed = async (maestro: Maestro): Promise<number> =>
  (await maestro.sessions({ statuses: ["completed"] })).length;

test("calls over the limit of a team wait for the next minute, give their place back, and none fails", async () => {
  const { clock, maestro, events, pass } = await here();
  const team = asking({ simulated: { requestsPerMinute: 2 } });
  const ids: SessionId[] = [];
  for (let number = 0; number < 5; number += 1) {
    const { id } = await maestro.start(team, { brief: `Question ${number}.` });
    ids.push(id);
  }
  const begun = clock.now();
  await pass(async () => (await completed(maestro)) === 5);
  expect(clock.now() - begun).toBeGreaterThanOrEqual(2 * minuteMs);
  const calls: number[] = [];
  for (const id of ids) {
    const rows = [];
    for await (const page of maestro.rows(id)) rows.push(...page);
    expect(rows.filter(({ kind }) => kind === "attempt.failed")).toEqual([]);
    expect(rows.filter(({ kind }) => kind === "attempt.started")).toHaveLength(1);
    expect(rows.filter(({ kind }) => kind === "dependency.waiting").length).toBeLessThanOrEqual(3);
    calls.push(...rows.filter(({ kind }) => kind === "step.model").map(({ at }) => at));
  }
  expect(calls).toHaveLength(5);
  for (const at of calls)
    expect(calls.filter((other) => other >= at && other < at + minuteMs).length).toBeLessThanOrEqual(2);
  const waits = events.filter(({ kind }) => kind === "dependency.waiting");
  expect(waits[0]).toMatchObject({
    dependency: "simulated",
    limit: "requests",
  });
  expect(sentenceOf(waits[0] as Parameters<typeof sentenceOf>[0])).toBe(
    "waits for simulated: its limit of requests a minute is reached",
  );
  expect(waits.length).toBeGreaterThanOrEqual(3);
  const wakes = events.filter((event) => event.kind === "session.claimed" && event.cause === "wake");
  expect(wakes.length, "a session that waited rested").toBeGreaterThan(0);
});

test("the smaller limit of the team and of the configuration counts", async () => {
  const { maestro, events, pass } = await here({
    limits: { providers: { simulated: { requestsPerMinute: 1 } } },
  });
  const generous = asking({ simulated: { requestsPerMinute: 100 } });
  for (let number = 0; number < 2; number += 1) await maestro.start(generous, { brief: `${number}` });
  await pass(async () => (await completed(maestro)) === 2);
  expect(events.some(({ kind }) => kind === "dependency.waiting")).toBe(true);
});

test("a repeated call counts, and waits without using up an attempt", async () => {
  let asked = 0;
  const outage = Object.assign(new Error("connect ECONNRESET"), { code: "ECONNRESET" });
  const model = ownModel(async () => {
    asked += 1;
    if (asked === 1) throw outage;
    return answer(10, 5);
  });
  const team = defineTeam("own", {
    limits: { openai: { requestsPerMinute: 1 } },
    phases: [
      phase("only", {
        personas: [
          persona("asked", {
            run: async (context: PersonaContext) => {
              await ask(model, context, "Well?");
              return { summary: "done" };
            },
          }),
        ],
      }),
    ],
  });
  const { clock, maestro, events, pass } = await here();
  const begun = clock.now();
  const session = await maestro.start(team, { brief: "b" });
  await pass(async () => (await completed(maestro)) === 1);
  expect(asked).toBe(2);
  expect(clock.now() - begun).toBeGreaterThanOrEqual(minuteMs);
  expect(events.filter(({ kind }) => kind === "dependency.waiting")).toMatchObject([
    { dependency: "openai" },
  ]);
  const { phases } = await maestro.show(session.id);
  expect(phases[0]?.personas[0]?.attempts.map(({ status }) => status)).toEqual(["failed", "completed"]);
});

test("a session that waits for its provider can be canceled at once", async () => {
  const { maestro, events, pass } = await here();
  const team = asking({ simulated: { requestsPerMinute: 1 } });
  await (await maestro.start(team, { brief: "first" })).result();
  const session = await maestro.start(team, { brief: "second" });
  await pass(() => events.some(({ kind }) => kind === "dependency.waiting"));
  await maestro.cancel(session.id);
  expect((await session.result()).status).toBe("canceled");
});
