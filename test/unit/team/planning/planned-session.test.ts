import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../../../src/domain/clock.ts";
import {
  loadTeam,
  type Maestro,
  type SessionEvent,
  type SessionView,
  TeamChanged,
} from "../../../../src/index.ts";
import { SqliteStore } from "../../../../src/state/sqlite/sqlite-store.ts";
import { teamOf } from "../../../../src/team/define.ts";
import { LoopbackModels, type Reaction } from "../../../support/loopback-models.ts";
import { TeamPlace } from "../place.ts";
import { smallTeam } from "./small-team.ts";

const titles = ["Classification", "Blueprint", "Personas", "Contracts"];
const brief = "Fix the API of the import job.";

const workersOf = ({ phases }: SessionView) =>
  Object.fromEntries(phases.map(({ name, personas }) => [name, personas.map((persona) => persona.name)]));

/** For that brief: no database, no frontend, and whom the rules do not know. */
const chosen = { design: ["solution_architect"], implementation: ["backend_developer", "poet"] };

async function eventsOf(maestro: Maestro, id: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of maestro.events(id, { follow: false })) events.push(event);
  return events;
}

/** The planning decisions stand there once, in order, before the first phase. */
async function expectPlannedOnce(maestro: Maestro, id: string): Promise<void> {
  const kinds = (await eventsOf(maestro, id)).map((event) => event.kind);
  const rows = kinds.filter((kind) => kind === "decision.recorded");
  expect(rows).toHaveLength(titles.length);
  expect(kinds.indexOf("phase.started")).toBeGreaterThan(kinds.lastIndexOf("decision.recorded"));
  const { decisions } = await maestro.show(id);
  expect(decisions.map(({ title }) => title)).toEqual(titles);
  expect(decisions.every(({ phase, persona }) => phase === undefined && persona === undefined)).toBe(true);
}

const checkpoint = (place: TeamPlace, id: string, phase: string) =>
  JSON.parse(readFileSync(join(place.stateDir, "sessions", id, `checkpoint_${phase}.json`), "utf8")) as {
    readonly session?: { readonly decisions?: readonly { readonly title: string }[] };
    readonly decisions?: readonly { readonly title: string }[];
  };

describe("what was planned is replayed, never planned again", () => {
  async function pausedAfterDesign(place = new TeamPlace()) {
    const maestro = await place.open();
    const team = smallTeam((name) => ({ run: place.work(name) }));
    const session = await maestro.start(team, { brief, key: "planned", until: "design" });
    expect(await session.result()).toMatchObject({ status: "paused" });
    return { place, maestro, team, id: session.id };
  }

  test("by a resume, with the team given, registered, or started again by its key", async () => {
    const { place, maestro, team, id } = await pausedAfterDesign();
    await maestro.close();
    const registered = await place.open({ teams: [team] });
    await (await registered.resume(id, { team })).result();
    const again = await registered.start(team, { brief, key: "planned" });
    expect(again.id).toBe(id);
    expect(await again.result()).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["solution_architect", "backend_developer", "poet"]);
    expect(workersOf(await registered.show(id))).toEqual(chosen);
    await expectPlannedOnce(registered, id);
  });

  test("from its checkpoints as well: that of the start and that of each phase have the decisions", async () => {
    const { place, id } = await pausedAfterDesign();
    expect(checkpoint(place, id, "init").session?.decisions?.map(({ title }) => title)).toEqual(titles);
    expect(checkpoint(place, id, "design").decisions?.map(({ title }) => title)).toEqual(titles);
  });

  test("phase by phase, by an orchestrator that knows nothing of it", async () => {
    const { place, maestro, id } = await pausedAfterDesign();
    await maestro.executePhase(id, "implementation");
    await maestro.executeBatch(id);
    expect(place.ran).toEqual(["solution_architect", "backend_developer", "poet"]);
    await expectPlannedOnce(maestro, id);
  });

  test("in a process that has never seen the team, from the session alone", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const work = () => ({ instructions: "Do it." });
    const planned = await maestro.create(smallTeam(work), { brief, model: "simulated" });
    await maestro.close();
    const other = await place.open();
    expect(await other.executeBatch(planned.id)).toMatchObject({ status: "completed" });
    expect(workersOf(await other.show(planned.id))).toEqual(chosen);
    await expectPlannedOnce(other, planned.id);
  });

  test("also when the rules would say otherwise by now", async () => {
    const { maestro, team, id } = await pausedAfterDesign();
    const other = await maestro.create(team, { brief: "A shop with a database." });
    expect(workersOf(await maestro.show(other.id))["design"]).toContain("database_specialist");
    expect(await maestro.executeBatch(id)).toMatchObject({ status: "completed" });
    expect(workersOf(await maestro.show(id))).toEqual(chosen);
  });

  test("by a fork, which has the same decisions as rows of its own", async () => {
    const { place, maestro, id } = await pausedAfterDesign();
    await maestro.executeBatch(id);
    const { id: fork } = await maestro.fork(id, { at: "implementation", fresh: true });
    expect(await maestro.executeBatch(fork)).toMatchObject({ status: "completed" });
    expect(workersOf(await maestro.show(fork))).toEqual(chosen);
    expect(place.ran).toEqual([
      "solution_architect",
      "backend_developer",
      "poet",
      "backend_developer",
      "poet",
    ]);
    await expectPlannedOnce(maestro, fork);
    // A session of the same team that is started afterwards is planned for its own brief.
    const next = await maestro.create(
      smallTeam(() => ({ instructions: "x" })),
      { brief: "A web app." },
    );
    expect(workersOf(await maestro.show(next.id))["implementation"]).toContain("frontend_developer");
  });

  test("when the database is lost: from the checkpoint of a phase, or of the start", async () => {
    const { place, maestro, team, id } = await pausedAfterDesign();
    const fresh = await maestro.create(team, { brief });
    const whole = await maestro.start(team, { brief });
    await whole.result();
    await maestro.close();
    for (const ending of ["", "-wal", "-shm"])
      rmSync(join(place.stateDir, `maestro.db${ending}`), { force: true });
    const restored = await place.open({ teams: [team] });
    expect(await restored.executeBatch(id)).toMatchObject({ status: "completed" });
    // Each checkpoint has them; the session has them once.
    expect(await restored.executeBatch(whole.id)).toMatchObject({ status: "completed" });
    for (const one of [id, whole.id]) {
      const view = await restored.show(one);
      expect(view.decisions.map(({ title }) => title)).toEqual(titles);
      expect(workersOf(view)).toEqual(chosen);
    }
    expect(await restored.executeBatch(fresh.id)).toMatchObject({ status: "completed" });
    await expectPlannedOnce(restored, fresh.id);
  });
});

describe("a team that has changed since", () => {
  const named = (instructions: string) => () => ({ instructions });

  async function started(place: TeamPlace) {
    const maestro = await place.open();
    const session = await maestro.create(smallTeam(named("Do it.")), { brief, model: "simulated" });
    return { maestro, id: session.id };
  }

  test("in somebody who was not chosen is the same team to the session", async () => {
    const { maestro, id } = await started(new TeamPlace());
    const team = smallTeam(named("Do it."), {
      more: { frontend_developer: { instructions: "Something else." } },
    });
    expect(await (await maestro.resume(id, { team })).result()).toMatchObject({ status: "completed" });
    await expectPlannedOnce(maestro, id);
  });

  test("in somebody who was chosen says so and asks, and the choice stays", async () => {
    const { maestro, id } = await started(new TeamPlace());
    const team = smallTeam(named("Do it."), { more: { poet: { instructions: "In verse." } } });
    const refusal = await (await maestro.resume(id, { team })).result().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(TeamChanged);
    expect((refusal as Error).message).toMatch(
      /team "small": phase implementation: persona poet: instructions changed\.$/,
    );
    const accepted = await maestro.resume(id, { team, acceptChanges: true });
    expect(await accepted.result()).toMatchObject({ status: "completed" });
    expect(workersOf(await maestro.show(id))).toEqual(chosen);
    // And from then on it is the team of the session.
    expect(await (await maestro.resume(id, { team })).result()).toMatchObject({ status: "completed" });
    await expectPlannedOnce(maestro, id);
  });

  test("is not asked about by who gives none: the record decides", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await started(place);
    await maestro.close();
    const team = smallTeam(named("Do it."), { more: { poet: { instructions: "In verse." } } });
    const other = await place.open({ teams: [team] });
    expect(await other.executeBatch(id)).toMatchObject({ status: "completed" });
  });

  test("so that planning begins later leaves a session that was not planned whole", async () => {
    const maestro = await new TeamPlace().open();
    const { definition, ...whole } = smallTeam(named("Do it."));
    const { planning: _, ...unplanned } = definition;
    const { id } = await maestro.create(teamOf(unplanned, whole.phases), { brief, model: "simulated" });
    const resumed = await maestro.resume(id, { team: smallTeam(named("Do it.")) });
    expect(await resumed.result()).toMatchObject({ status: "completed" });
    const view = await maestro.show(id);
    expect(workersOf(view)["design"]).toEqual(["solution_architect", "database_specialist"]);
    expect(view.decisions).toEqual([]);
  });
});

describe("planning by a model", () => {
  const answer = {
    type: "feature",
    complexity: "large",
    parallelism: "many",
    expertise: ["database", "frontend"],
    risks: [],
    confidence: 1,
    reason: "I know better.",
  };

  async function server(
    script: readonly Reaction[] = [{ text: JSON.stringify(answer) }],
  ): Promise<LoopbackModels> {
    const models = await LoopbackModels.start(script);
    for (const [name, value] of Object.entries(models.env)) vi.stubEnv(name, value);
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await models.close();
    });
    return models;
  }

  test("asks once for a session, and never for one that exists or cannot be", async () => {
    const models = await server();
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = smallTeam((name) => ({ run: place.work(name) }), {
      planning: "model",
      model: "openai/gpt-5",
    });
    await expect(maestro.start(team, { brief: " " })).rejects.toThrow("The brief is empty");
    await expect(maestro.start(team, { brief, key: "" })).rejects.toThrow("A key has");
    expect(models.requests).toHaveLength(0);
    const session = await maestro.start(team, { brief, key: "k" });
    await session.result();
    await (await maestro.start(team, { brief, key: "k" })).result();
    await (await maestro.resume("k", { team })).result();
    await maestro.executeBatch("k");
    const { id: fork } = await maestro.fork("k", { at: "design", fresh: true, team });
    await maestro.executeBatch(fork);
    expect(models.requests).toHaveLength(1);
    const view = await maestro.show("k");
    expect(workersOf(view)).toEqual({
      design: ["solution_architect", "database_specialist"],
      implementation: ["frontend_developer", "poet"],
    });
    expect(view.decisions[0]?.reason).toMatch(/^I know better\. \(openai\/gpt-5; /);
    await expect(maestro.start(team, { brief: "Something else.", key: "k" })).rejects.toThrow(
      "belongs to session",
    );
    expect(models.requests).toHaveLength(1);
  });

  test("asks the model that the session will use", async () => {
    const models = await server();
    const place = new TeamPlace();
    const maestro = await place.open({ model: "anthropic/claude-sonnet-4-5" });
    const team = smallTeam((name) => ({ run: place.work(name) }), {
      planning: "model",
      model: "openai/gpt-5",
    });
    const { id } = await maestro.create(team, { brief });
    const other = await maestro.create(team, { brief, model: "google/gemini-2.5-pro" });
    expect(models.requests).toHaveLength(0);
    for (const one of [id, other.id]) await maestro.executePhase(one, "design");
    expect(models.requests.map(({ path }) => path.split(/[?:]/)[0])).toEqual([
      "/v1/messages",
      "/v1beta/models/gemini-2.5-pro",
    ]);
    expect([(await maestro.show(id)).model, (await maestro.show(other.id)).model]).toEqual([
      "anthropic/claude-sonnet-4-5",
      "google/gemini-2.5-pro",
    ]);
  });

  test("is in the ledger, on record with the call that it cost, and in the usage of the session", async () => {
    await server();
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = smallTeam((name) => ({ run: place.work(name) }), {
      planning: "model",
      model: "openai/gpt-5",
    });
    const session = await maestro.start(team, { brief });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const calls = await maestro.calls(session.id);
    expect(calls).toMatchObject([{ persona: "(planning)", model: "openai/gpt-5", status: "settled" }]);
    const { rows } = await maestro.usage({ by: "persona", session: session.id });
    expect(rows.map(({ name, calls: count }) => [name, count])).toEqual([["(planning)", 1]]);
    await expectPlannedOnce(maestro, session.id);
    expect(workersOf(await maestro.show(session.id))["implementation"]).toEqual([
      "frontend_developer",
      "poet",
    ]);
  });

  test.each<[string, object, object]>([
    ["of the team", { budget: { tokens: 10 } }, {}],
    ["of the session", {}, { budget: { tokens: 10 } }],
  ])(
    "within a budget %s that has no room for the call is not made: the rules decide",
    async (_, more, options) => {
      const models = await server();
      const place = new TeamPlace();
      const maestro = await place.open();
      const team = smallTeam((name) => ({ run: place.work(name) }), {
        planning: "model",
        model: "openai/gpt-5",
        ...more,
      });
      const session = await maestro.start(team, { brief, ...options });
      expect(await session.result()).toMatchObject({ status: "completed" });
      expect(models.requests).toHaveLength(0);
      const { decisions } = await maestro.show(session.id);
      expect(decisions[0]?.reason).toMatch(
        /^The model could not be asked: .*budget.* The rules decided instead\./i,
      );
      expect(workersOf(await maestro.show(session.id))).toEqual(chosen);
    },
  );

  test("within a budget that has room is paid from it", async () => {
    const models = await server();
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = smallTeam((name) => ({ run: place.work(name) }), {
      planning: "model",
      model: "openai/gpt-5",
    });
    const session = await maestro.start(team, { brief, budget: { tokens: 50_000 } });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(models.requests).toHaveLength(1);
    const [budget] = (await maestro.budgets(session.id)).filter(({ level }) => level === "session");
    expect(budget?.used.tokens).toBeGreaterThan(0);
  });

  test("that is canceled in the middle decides nothing, and counts what it may have cost", async () => {
    const models = await server([{ fault: "silence" }]);
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = smallTeam((name) => ({ run: place.work(name) }), {
      planning: "model",
      model: "openai/gpt-5",
    });
    const session = await maestro.start(team, { brief });
    await vi.waitUntil(() => models.requests.length === 1, { timeout: 10_000 });
    await maestro.cancel(session.id);
    expect(await session.result()).toMatchObject({ status: "canceled" });
    expect((await maestro.show(session.id)).decisions).toEqual([]);
    expect(await maestro.calls(session.id)).toMatchObject([{ persona: "(planning)", status: "estimated" }]);
    expect(place.ran).toEqual([]);
  });

  test("whose process dies after the answer is asked at most once more", async () => {
    const models = await server();
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = smallTeam((name) => ({ run: place.work(name) }), {
      planning: "model",
      model: "openai/gpt-5",
    });
    const { id } = await maestro.create(team, { brief });
    const store = new SqliteStore({
      path: join(place.stateDir, "maestro.db"),
      clock: systemClock,
      leaseMs: 15_000,
    });
    const { lease } = await store.claimSession(id, "start");
    // As a driver that was killed left it: the call is open, and nothing is on record.
    const asked = { tokens: 2_000, microUsd: null };
    const called = { phase: "(planning)", persona: "(planning)", round: 1, attempt: 1, started: 0 };
    await store.ledger.reserve(lease, { ...called, model: "openai/gpt-5", asked, limits: [] });
    await store.releaseSession(lease);
    await store.close();
    await maestro.executeBatch(id);
    await maestro.executeBatch(id);
    expect(models.requests).toHaveLength(1);
    const calls = await maestro.calls(id);
    expect(calls).toHaveLength(2);
    expect(calls.every(({ status }) => status !== "open")).toBe(true);
    await expectPlannedOnce(maestro, id);
  });

  test("does not wait for a breaker that is open: the rules decide", async () => {
    const models = await server([{ fault: "refuse", status: 500, code: "server_error", message: "down" }]);
    const place = new TeamPlace();
    const maestro = await place.open({ breaker: { threshold: 1, cooldownMs: 600_000 } });
    const team = smallTeam((name) => ({ run: place.work(name) }), {
      planning: "model",
      model: "openai/gpt-5",
    });
    for (const key of ["one", "two"]) {
      const session = await maestro.start(team, { brief, key });
      expect(await session.result()).toMatchObject({ status: "completed" });
    }
    expect(models.requests).toHaveLength(1);
    expect((await maestro.show("two")).decisions[0]?.reason).toContain("its breaker is open");
  });

  test("joins those who ask for the session while it is planned and driven", async () => {
    await server();
    const place = new TeamPlace();
    const maestro = await place.open();
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const team = smallTeam(
      (name) => ({
        run: place.work(name, async () => {
          begun.resolve();
          await held.promise;
        }),
      }),
      { planning: "model", model: "openai/gpt-5" },
    );
    const session = await maestro.start(team, { brief, key: "k" });
    await begun.promise;
    const again = await maestro.start(team, { brief, key: "k" });
    held.resolve();
    expect(await again.result()).toMatchObject({ status: "completed" });
    expect(await session.result()).toMatchObject({ status: "completed" });
  });

  test("with the simulated model leaves it to the rules, and says so", async () => {
    const maestro = await new TeamPlace().open();
    const team = smallTeam(() => ({ instructions: "Do it." }), { planning: "model" });
    const session = await maestro.start(team, { brief, model: "simulated" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const { decisions, phases } = await maestro.show(session.id);
    expect(decisions[0]?.reason).toMatch(
      /^simulated was asked .* The rules decided instead\. The brief says "fix"/,
    );
    expect(phases[0]?.personas.map(({ name }) => name)).toEqual(["solution_architect"]);
  });
});

test("phases from outside are taken for those who were chosen", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const team = smallTeam((name) => ({ run: place.work(name) }));
  const session = await maestro.start(team, {
    brief,
    given: { design: { outputs: { solution_architect: { parts: 3 } } } },
  });
  expect(await session.result()).toMatchObject({ status: "completed" });
  expect(place.ran).toEqual(["backend_developer", "poet"]);
  await expectPlannedOnce(maestro, session.id);
});

test("a team that does not ask for planning has nothing planned", async () => {
  const maestro = await new TeamPlace().open();
  const fixture = join(import.meta.dirname, "../../../fixtures/teams/product.yaml");
  const { team } = await loadTeam(fixture);
  const { id } = await maestro.create(team, { brief });
  const { decisions, phases } = await maestro.show(id);
  expect(decisions).toEqual([]);
  expect(phases.flatMap(({ personas }) => personas)).toHaveLength(
    team.phases.flatMap(({ personas }) => personas).length,
  );
});
