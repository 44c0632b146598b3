import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../../../src/domain/clock.ts";
import { SqliteStore } from "../../../../src/store/sqlite/sqlite-store.ts";
import { LoopbackModels, type Reaction } from "../../../support/loopback-models.ts";
import { TeamPlace } from "../place.ts";
import { brief, chosen, expectPlannedOnce, workersOf } from "./planned-place.ts";
import { smallTeam } from "./small-team.ts";

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

  test("calls the model once for a session, and never for one that exists or is refused", async () => {
    const models = await server();
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = smallTeam((name) => ({ run: place.work(name) }), {
      planning: "model",
      model: "openai/gpt-5",
    });
    await expect(maestro.start(team, { brief: " " })).rejects.toThrow("The brief is empty");
    await expect(maestro.start(team, { brief, key: "" })).rejects.toThrow("The key must have");
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

  test("chooses blueprint, personas and contracts, recorded as by the rules, and is never repeated", async () => {
    const plan = {
      ...answer,
      blueprint: { name: "data", reason: "It is all about rows." },
      personas: [
        { phase: "design", persona: "solution_architect", works: false, reason: "Nothing to decide." },
        { phase: "implementation", persona: "poet", works: false, reason: "No verse is asked for." },
        { phase: "implementation", persona: "backend_developer", works: true, reason: "Jobs are code." },
        { phase: "implementation", persona: "frontend_developer", works: false, reason: "Nothing to see." },
      ],
      deliverables: [{ persona: "backend_developer", name: "runbook", file: "docs/runbook.md" }],
    };
    const models = await server([{ text: JSON.stringify(plan) }]);
    const place = new TeamPlace();
    const maestro = await place.open();
    const work = (name: string) =>
      name === "backend_developer" ? { instructions: "Write jobs." } : { run: place.work(name) };
    const options = { planning: "model", model: "openai/gpt-5" } as const;
    const session = await maestro.start(smallTeam(work, options), { brief, until: "design" });
    await session.result();
    expect(models.requests[0]?.text).toContain("backend_developer (Write jobs.)");
    const planned = { design: ["database_specialist"], implementation: ["backend_developer"] };
    const view = await maestro.show(session.id);
    expect(workersOf(view)).toEqual(planned);
    await expectPlannedOnce(maestro, session.id);
    const [, blueprint, personas, contracts] = view.decisions;
    expect(blueprint).toMatchObject({ choice: "data", reason: "The model: It is all about rows." });
    expect(personas?.reason).toContain("backend_developer (implementation): the model: Jobs are code.");
    expect(personas?.rejected).toContain("poet in implementation: the model: No verse is asked for.");
    expect(contracts?.choice).toContain("the model adds docs/runbook.md from backend_developer");
    // With a changed team it is the same choice of that team, with the same files besides.
    const changed = smallTeam(work, {
      ...options,
      more: { backend_developer: { instructions: "Write good jobs." } },
    });
    const { personas: next } = await maestro.plan(session.id, { team: changed, acceptChanges: true });
    expect(next.map(({ persona }) => persona)).toEqual(["database_specialist", "backend_developer"]);
    await expect(maestro.plan(session.id, { team: changed })).rejects.toThrow(
      /: phase implementation: persona backend_developer: instructions changed\.$/,
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

  test("is in the ledger, in the journal with its cost, and in the usage of the session", async () => {
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
    "within a budget %s without room for the call is not made: the rules decide",
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

  test("that is canceled in the middle decides nothing and counts its possible cost", async () => {
    const models = await server([{ fault: "silence" }]);
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = smallTeam((name) => ({ run: place.work(name) }), {
      planning: "model",
      model: "openai/gpt-5",
    });
    const session = await maestro.start(team, { brief });
    await vi.waitUntil(() => models.requests.length === 1, { timeout: 60_000 });
    await maestro.cancel(session.id);
    expect(await session.result()).toMatchObject({ status: "canceled" });
    expect((await maestro.show(session.id)).decisions).toEqual([]);
    expect(await maestro.calls(session.id)).toMatchObject([{ persona: "(planning)", status: "estimated" }]);
    expect(place.ran).toEqual([]);
  });

  test("whose process dies after the answer is called at most once more", async () => {
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
    await store.reserve(lease, { ...called, model: "openai/gpt-5", asked, limits: [] });
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

  test("joins requests for the session while it is planned and driven", async () => {
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

  test("with the simulated model leaves it to the rules and records that", async () => {
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
