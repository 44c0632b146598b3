import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import {
  defineTeam,
  type Maestro,
  type OpenOptions,
  open,
  type PersonaFunction,
  persona,
  phase,
} from "../../../src/index.ts";
import { explainStop } from "../../../src/journal/explain-stop.ts";
import { restAfterMs } from "../../../src/run/rest.ts";

const hourMs = 3_600_000;
const done = { summary: "done" };

const teamOf = (run: PersonaFunction, name = "team") =>
  defineTeam(name, { phases: [phase("work", { personas: [persona("worker", { run })] })] });

const sleeper = teamOf(async ({ step, sleep }) => {
  await step("before", () => 1);
  await sleep(hourMs);
  await step("after", () => 2);
  return done;
}, "sleeper");
const quick = teamOf(async () => done, "quick");

class Here {
  readonly clock = new ManualClock();
  stateDir = "";

  async open(options: OpenOptions = {}): Promise<Maestro> {
    if (this.stateDir === "") {
      this.stateDir = await mkdtemp(join(tmpdir(), "maestro-resting-"));
      onTestFinished(() => rm(this.stateDir, { recursive: true, force: true }));
    }
    const { stateDir, clock } = this;
    const maestro = await open({ stateDir, clock, teams: [sleeper, quick], ...options });
    onTestFinished(() => maestro.close());
    return maestro;
  }

  /** Lets time pass until the condition holds. */
  async pass(isTrue: () => Promise<boolean>, stepMs = restAfterMs): Promise<void> {
    await vi.waitUntil(
      async () => {
        if (await isTrue()) return true;
        await this.clock.advance(stepMs);
        return isTrue();
      },
      { timeout: 60_000, interval: 10 },
    );
  }

  rests(maestro: Maestro, id: string): Promise<void> {
    return this.pass(async () => (await maestro.show(id)).wakeAt !== null);
  }
}

describe("a session in which everything waits", () => {
  test("has no driver meanwhile, and its result still comes in a process without recovery", async () => {
    const here = new Here();
    const maestro = await here.open();
    const session = await maestro.start(sleeper, { brief: "b" });
    await here.rests(maestro, session.id);
    const view = await maestro.show(session.id);
    expect(view.status).toBe("running");
    expect((await maestro.abandoned()).size).toBe(0);
    const result = session.result();
    await here.clock.advance(hourMs);
    expect((await result).status).toBe("completed");
    const rows = [];
    for await (const page of maestro.rows(session.id)) rows.push(...page);
    const causes = rows
      .filter(({ kind }) => kind === "session.claimed")
      .map(({ body }) => (JSON.parse(body) as { cause: string }).cause);
    expect(causes).toEqual(["start", "wake"]);
    expect(rows.filter(({ kind }) => kind === "step.function")).toHaveLength(2);
  });

  test("gives its place to a session that is queued", async () => {
    const here = new Here();
    const maestro = await here.open();
    const scheduler = maestro.scheduler({ places: 2, report: expect.unreachable });
    onTestFinished(() => scheduler.stop());
    for (const brief of ["one", "two"]) await maestro.queue(sleeper, { brief });
    const { id } = await maestro.queue(quick, { brief: "three" });
    await scheduler.start();
    await here.pass(async () => (await maestro.find(id)).status === "completed");
    await here.pass(async () => scheduler.inUse === 0);
    await here.clock.advance(hourMs);
    await here.pass(async () => (await maestro.sessions({ statuses: ["completed"] })).length === 3, 0);
    expect((await maestro.abandoned()).size).toBe(0);
  });

  test.each([
    ["pause", "paused"],
    ["cancel", "canceled"],
  ] as const)("obeys a %s of another process at once", async (action, status) => {
    const here = new Here();
    const maestro = await here.open();
    const session = await maestro.start(sleeper, { brief: "b" });
    await here.rests(maestro, session.id);
    const other = await here.open();
    await other[action](session.id);
    await vi.waitUntil(async () => (await other.find(session.id)).status === status);
    expect((await session.result()).status).toBe(status);
  });

  test("keeps its place while another persona of it works", async () => {
    const here = new Here();
    const maestro = await here.open();
    const { promise: enough, resolve: end } = Promise.withResolvers<void>();
    const team = defineTeam("both", {
      phases: [
        phase("work", {
          personas: [
            persona("sleeps", { run: async ({ sleep }) => sleep(hourMs).then(() => done) }),
            persona("works", { run: async ({ step }) => step("call", () => enough).then(() => done) }),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "b" });
    for (let looks = 0; looks < 4; looks += 1) await here.clock.advance(restAfterMs);
    expect((await maestro.show(session.id)).wakeAt).toBeNull();
    end();
    await here.rests(maestro, session.id);
    const result = session.result();
    await here.clock.advance(hourMs);
    expect((await result).status).toBe("completed");
  });

  test("continues before its time when a person answers a call that waits beside", async () => {
    const here = new Here();
    const heard: string[] = [];
    const team = defineTeam("asking", {
      phases: [
        phase("work", {
          personas: [
            persona("sleeps", { run: async ({ sleep }) => sleep(hourMs).then(() => done) }),
            persona("asks", {
              tools: ["ask_person"],
              run: async ({ tools }) => {
                heard.push((await tools["ask_person"]?.execute({ question: "Which?" })) as string);
                return done;
              },
            }),
          ],
        }),
      ],
    });
    const maestro = await here.open({ teams: [team] });
    const session = await maestro.start(team, { brief: "b" });
    const result = session.result();
    await here.rests(maestro, session.id);
    const [question] = (await maestro.show(session.id)).waiting;
    expect(question?.kind).toBe("question");
    const other = await here.open({ teams: [team] });
    await other.answer(session.id, question?.seq ?? 0, "this one");
    await vi.waitUntil(() => heard.length === 1, { timeout: 20_000 });
    expect(heard).toEqual(["this one"]);
    await here.rests(maestro, session.id);
    await here.clock.advance(hourMs);
    expect((await result).status).toBe("completed");
  });

  test("is taken by the next process when its own has ended, and waits only for the remainder", async () => {
    const here = new Here();
    const first = await here.open();
    const session = await first.start(sleeper, { brief: "b" });
    await here.rests(first, session.id);
    const wakeAt = (await first.show(session.id)).wakeAt;
    await first.close();
    expect((await session.result()).status).toBe("running");
    await here.clock.advance(hourMs / 2);
    const second = await here.open({ recover: true });
    expect(await second.show(session.id)).toMatchObject({ status: "running", wakeAt });
    await here.clock.advance(hourMs / 2);
    await here.pass(async () => (await second.find(session.id)).status === "completed", 0);
  });
});

describe("a session that is started where limits apply", () => {
  test("waits for its turn, by priority, and its result comes all the same", async () => {
    const here = new Here();
    const maestro = await here.open({ limits: { teams: { gated: 1 } } });
    const doors = new Map<string, () => void>();
    const began: string[] = [];
    const gated = teamOf(async ({ brief }) => {
      began.push(brief);
      await new Promise<void>((resolve) => doors.set(brief, resolve));
      return done;
    }, "gated");
    const first = await maestro.start(gated, { brief: "first" });
    await vi.waitUntil(() => doors.has("first"));
    const low = await maestro.start(gated, { brief: "low" });
    const high = await maestro.start(gated, { brief: "high", priority: 5 });
    await vi.waitUntil(async () => (await maestro.sessions({ statuses: ["queued"] })).length === 2);
    for (const [brief, session] of Object.entries({ first, high, low })) {
      await here.pass(async () => doors.has(brief), 1_000);
      expect((await maestro.sessions({ statuses: ["running"] })).length).toBe(1);
      doors.get(brief)?.();
      expect((await session.result()).status).toBe("completed");
    }
    expect(began).toEqual(["first", "high", "low"]);
    expect(await maestro.show(high.id)).toMatchObject({ queue: "default", priority: 5 });
  });

  test.each([
    [{ queue: "no queue" }, "not the name of a queue"],
    [{ priority: 1_001 }, "from -1000 to 1000"],
    [{ priority: 0.5 }, "from -1000 to 1000"],
  ])("is refused with %o", async (place, message) => {
    const maestro = await new Here().open();
    await expect(maestro.start(quick, { brief: "b", ...place })).rejects.toThrow(message);
    expect(await maestro.sessions()).toEqual([]);
  });
});

describe("a queued session whose team has changed", () => {
  test("is not claimed; the reason is reported once and shown with advice until it is driven", async () => {
    const here = new Here();
    const before = await here.open({ teams: [] });
    const { id } = await before.queue(quick, { brief: "b" });
    await before.close();
    const changed = teamOf(async () => done, "quick");
    const other = defineTeam("quick", {
      phases: [phase("other", { personas: [persona("worker", { run: async () => done })] })],
    });
    const maestro = await here.open({ teams: [other] });
    const reported: string[] = [];
    const scheduler = maestro.scheduler({ places: 1, report: (notice) => reported.push(notice) });
    for (let minute = 0; minute < 3; minute += 1) {
      await scheduler.tick();
      await here.clock.advance(61_000);
    }
    expect(reported).toHaveLength(1);
    const rows = [];
    for await (const page of maestro.rows(id)) rows.push(...page);
    expect(rows.map(({ kind }) => kind)).toEqual(["session.created"]);
    const view = await maestro.show(id);
    expect(view).toMatchObject({ status: "queued", error: { code: "TEAM_CHANGED" } });
    expect(JSON.stringify(explainStop(view).todo)).toContain("acceptChanges: true");
    const [listed] = await maestro.list({ order: "created", limit: 1 });
    expect(listed?.blocked).toMatchObject({ code: "TEAM_CHANGED" });
    await maestro.close();
    const right = await here.open({ teams: [changed] });
    await right.scheduler({ places: 1, report: expect.unreachable }).tick();
    expect(await right.show(id)).toMatchObject({ status: "completed", error: null });
  });
});
