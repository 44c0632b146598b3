import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/domain/clock.ts";
import { InputInvalid, SessionCanceled, SessionConflict, TeamChanged } from "../../../src/domain/errors.ts";
import {
  defineTeam,
  type Maestro,
  open,
  persona,
  phase,
  type StartOptions,
  type Team,
} from "../../../src/index.ts";
import { SqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";

const worker = (summary: string) => persona("worker", { run: async () => ({ summary }) });
const team = defineTeam("team", {
  phases: [
    phase("one", { personas: [worker("one")] }),
    phase("two", { personas: [worker("two")] }),
    phase("three", { personas: [worker("three")] }),
  ],
});

async function openHere(stateDir?: string): Promise<{ maestro: Maestro; stateDir: string }> {
  const folder = stateDir ?? (await mkdtemp(join(tmpdir(), "maestro-queue-")));
  if (stateDir === undefined) onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const maestro = await open({ stateDir: folder, teams: [team] });
  onTestFinished(() => maestro.close());
  return { maestro, stateDir: folder };
}

test("a queued session waits on disk with its direction, and its driver goes that far", async () => {
  const { maestro, stateDir } = await openHere();
  const { id } = await maestro.queue(team, { brief: "b", until: "two", pauseAfter: ["three"] });
  await maestro.close();
  const { maestro: other } = await openHere(stateDir);
  expect(await other.queued()).toEqual([id]);
  await other.scheduler({ places: 1, report: expect.unreachable }).tick();
  const { status, phases, direction } = await other.show(id);
  expect(status).toBe("paused");
  expect(phases.map((each) => each.status)).toEqual(["completed", "completed", "pending"]);
  expect(direction).toEqual({ until: "two", pauseAfter: ["three"] });
  expect(await other.queued()).toEqual([]);
});

test("a resume runs to the end, but still pauses after the phases of pauseAfter", async () => {
  const { maestro } = await openHere();
  const { id } = await maestro.queue(team, { brief: "b", only: ["one"], pauseAfter: ["two"] });
  await maestro.scheduler({ places: 1, report: expect.unreachable }).tick();
  expect((await maestro.show(id)).status).toBe("paused");
  await maestro.queueResume(id);
  expect((await maestro.show(id)).direction).toEqual({ pauseAfter: ["two"] });
  await maestro.scheduler({ places: 1, report: expect.unreachable }).tick();
  expect(await maestro.show(id)).toMatchObject({ status: "parked", reason: "review" });
});

test("the commit that creates a session sets its limit", async () => {
  const { maestro } = await openHere();
  const { id } = await maestro.queue(team, { brief: "b", budget: { tokens: 5 } });
  const rows = [];
  for await (const page of maestro.rows(id)) rows.push(...page);
  expect(rows.map(({ kind }) => kind)).toEqual(["session.created"]);
  expect(await maestro.budgets(id)).toMatchObject([{ level: "session", budget: { tokens: 5 } }]);
});

test("an impossible direction creates no session, and the corrected one starts", async () => {
  const { maestro } = await openHere();
  const wrong = [{ only: ["for"] }, { from: "two" }, { until: "for" }, { from: "three", until: "two" }];
  for (const direction of wrong) {
    const options = { brief: "b", key: "k", budget: { usd: 0.01 }, ...direction } as StartOptions;
    await expect(maestro.queue(team as Team, options)).rejects.toThrow(InputInvalid);
  }
  expect(await maestro.sessions()).toEqual([]);
  const { id, isNew } = await maestro.queue(team, { brief: "b", key: "k", until: "two", budget: { usd: 5 } });
  expect(isNew).toBe(true);
  expect(await maestro.queued()).toEqual([id]);
  expect(await maestro.budgets(id)).toMatchObject([{ level: "session", budget: { microUsd: 5_000_000 } }]);
});

test("a resume does not drop a cancel that is not applied yet", async () => {
  const { maestro, stateDir } = await openHere();
  const { id } = await maestro.queue(team, { brief: "b", until: "one" });
  await maestro.scheduler({ places: 1, report: expect.unreachable }).tick();
  const path = join(stateDir, "maestro.db");
  const elsewhere = new SqliteStore({ path, clock: systemClock, leaseMs: 15_000 });
  await elsewhere.signal(id, { action: "cancel" });
  await elsewhere.close();
  await expect(maestro.queueResume(id)).rejects.toThrow(SessionCanceled);
  expect((await maestro.find(id)).status).toBe("canceled");
  expect(await maestro.queued()).toEqual([]);
});

test.each([
  ["queued again by its key", (maestro: Maestro) => maestro.queue(team, { brief: "b", key: "k" })],
  ["resumed", (maestro: Maestro) => maestro.queueResume("k")],
])("a session that has stopped and still holds its lease can be %s", async (_, ask) => {
  const { maestro, stateDir } = await openHere();
  const { id } = await maestro.queue(team, { brief: "b", key: "k", until: "one" });
  await maestro.scheduler({ places: 1, report: expect.unreachable }).tick();
  const path = join(stateDir, "maestro.db");
  const elsewhere = new SqliteStore({ path, clock: systemClock, leaseMs: 15_000 });
  const { lease } = await elsewhere.claimSession(id, "signal");
  const asked = ask(maestro);
  expect(await Promise.race([asked, systemClock.sleep(100).then(() => "waits")])).toBe("waits");
  await elsewhere.releaseSession(lease);
  await elsewhere.close();
  await asked;
  await maestro.scheduler({ places: 1, report: expect.unreachable }).tick();
  expect((await maestro.find(id)).status).toBe("completed");
});

test("queueing a key twice is one session; with other work it is a conflict", async () => {
  const { maestro } = await openHere();
  const first = await maestro.queue(team, { brief: "b", key: "k" });
  const again = await maestro.queue(team, { brief: "b", key: "k" });
  expect([first.isNew, again.isNew, again.id]).toEqual([true, false, first.id]);
  expect(await maestro.queued()).toEqual([first.id]);
  await expect(maestro.queue(team, { brief: "other", key: "k" })).rejects.toThrow(SessionConflict);
});

test("a key with another model or limit is a conflict and changes nothing; the same terms are not", async () => {
  const { maestro } = await openHere();
  const options = { brief: "b", key: "k", model: "simulated", budget: { usd: 1 }, until: "one" } as const;
  const { id } = await maestro.queue(team, options);
  await maestro.scheduler({ places: 1, report: expect.unreachable }).tick();
  await maestro.setBudget(id, { usd: 9 });
  const before = await maestro.show(id);
  for (const other of [{ model: "openai/gpt-5" }, { budget: { usd: 2 } }, { budget: { usd: 1, tokens: 5 } }])
    await expect(maestro.queue(team, { ...options, ...other })).rejects.toThrow(SessionConflict);
  expect(await maestro.show(id)).toEqual(before);
  expect(await maestro.queued()).toEqual([]);
  // A caller that repeats the first request cannot know the limit that was raised since.
  expect(await maestro.queue(team, options)).toEqual({ id, isNew: false });
  expect(await maestro.queue(team, { brief: "b", key: "k" })).toEqual({ id, isNew: false });
  expect(await maestro.budgets(id)).toMatchObject([{ budget: { microUsd: 9_000_000 } }]);
});

test("a start with a known key is refused with another model, and resumes with the same", async () => {
  const { maestro } = await openHere();
  const own = defineTeam("own", {
    model: "simulated",
    phases: team.definition.phases.map(({ name }) => phase(name, { personas: [worker(name)] })),
  });
  const options = { brief: "b", key: "k", until: "one" } as const;
  await (await maestro.start(own, options)).result();
  const other = maestro.start(own, { ...options, model: "openai/gpt-5" });
  await expect(other).rejects.toMatchObject({
    code: "SESSION_CONFLICT",
    advice: "Use another key. Or resume it with that model: maestro resume k --model openai/gpt-5",
  });
  const again = await maestro.start(own, { brief: "b", key: "k", model: "simulated" });
  expect((await again.result()).status).toBe("completed");
});

test("a changed team is refused at once and not when the session is taken; accepted, it is recorded", async () => {
  const { maestro, stateDir } = await openHere();
  const { id } = await maestro.queue(team, { brief: "b", until: "one" });
  await maestro.scheduler({ places: 1, report: expect.unreachable }).tick();
  await maestro.close();
  const changed = defineTeam("team", {
    phases: [phase("one", { personas: [worker("one")] }), phase("extra", { personas: [worker("extra")] })],
  });
  const other = await open({ stateDir, teams: [changed] });
  onTestFinished(() => other.close());
  await expect(other.queueResume(id)).rejects.toThrow(TeamChanged);
  expect((await other.find(id)).status).toBe("paused");
  await other.queueResume(id, { acceptChanges: true });
  await other.scheduler({ places: 1, report: expect.unreachable }).tick();
  const { status, phases } = await other.show(id);
  expect([status, phases.map(({ name }) => name)]).toEqual(["completed", ["one", "extra"]]);
});

test("a completed session is not queued again", async () => {
  const { maestro } = await openHere();
  const { id } = await maestro.queue(team, { brief: "b" });
  await maestro.scheduler({ places: 1, report: expect.unreachable }).tick();
  await maestro.queueResume(id);
  expect((await maestro.find(id)).status).toBe("completed");
  expect(await maestro.queued()).toEqual([]);
});
