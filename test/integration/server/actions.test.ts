import { describe, expect, test, vi } from "vitest";
import type { PlanView } from "../../../src/server/schemas/actions.ts";
import type { SessionPageView } from "../../../src/server/schemas/session.ts";
import { problemOf, quickTeam, start, startServer, type TestServer, token, until } from "./support.ts";
import { failingTeam, Gate, quickRetries, reviewTeam } from "./teams.ts";

async function act(
  server: TestServer,
  path: string,
  body: unknown = {},
  status = 202,
): Promise<SessionPageView> {
  const response = await server.post(path, body, path.endsWith("/budgets") ? "PATCH" : "POST");
  const text = await response.text();
  expect(response.status, `for ${text}`).toBe(status);
  return JSON.parse(text) as SessionPageView;
}

test("starting with one key twice, also at the same moment, is one session that runs once", async () => {
  const server = await startServer();
  server.drive();
  const body = { team: "quick", brief: "x", key: "k" };
  for (let round = 0; round < 10; round += 1) {
    const key = round === 0 ? "k" : `k${round}`;
    const starting = Array.from({ length: 10 }, () => server.post("/v1/sessions", { ...body, key }));
    const answers = await Promise.all(starting);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const views = await Promise.all(answers.map(async (answer) => (await answer.json()) as SessionPageView));
    expect(new Set(views.map(({ id }) => id)).size).toBe(1);
    const done = await until(server, key, "completed");
    expect(done.phases.flatMap(({ personas }) => personas.flatMap(({ attempts }) => attempts))).toHaveLength(
      2,
    );
  }
  const again = await server.post("/v1/sessions", body);
  expect(again.status).toBe(200);
  expect(((await again.json()) as SessionPageView).status).toBe("completed");
});

test("the answer to a start names the session, which waits for its turn", async () => {
  const server = await startServer();
  const response = await server.post("/v1/sessions", { team: "quick", brief: "x" });
  expect(response.status).toBe(201);
  const view = (await response.json()) as SessionPageView;
  expect(response.headers.get("location")).toBe(`/v1/sessions/${view.id}`);
  expect(view).toMatchObject({ status: "queued", situation: { kind: "queued", ahead: 0 } });
});

describe("a session that runs", () => {
  test("pauses at its next step, and a resume repeats nothing", async () => {
    const gate = new Gate();
    const server = await startServer({ teams: [gate.team("gated", 3)] });
    server.drive();
    const { id } = await start(server, { team: "gated" });
    await vi.waitUntil(() => gate.entered.length === 1, { timeout: 60_000 });
    await act(server, `/v1/sessions/${id}/pause`);
    await vi.waitFor(async () => {
      const asked = await server.get<SessionPageView>(`/v1/sessions/${id}`);
      expect([asked.status, asked.headline]).toEqual(["running", "Pauses at its next step"]);
    }, 60_000);
    gate.open();
    const paused = await until(server, id, "paused");
    expect(paused.headline).toBe("Paused by a person before the first phase was completed");
    await act(server, `/v1/sessions/${id}/resume`);
    const done = await until(server, id, "completed");
    expect(done["steps"]).toBe(3);
  });

  test("is left alone by a resume, and stopped for good by a cancel", async () => {
    const gate = new Gate();
    const server = await startServer({ teams: [gate.team()] });
    server.drive();
    const { id } = await start(server, { team: "gated" });
    await vi.waitUntil(() => gate.entered.length === 1, { timeout: 60_000 });
    const resumed = await act(server, `/v1/sessions/${id}/resume`);
    expect(resumed.status).toBe("running");
    await act(server, `/v1/sessions/${id}/cancel`);
    await until(server, id, "canceled");
    expect(gate.entered).toHaveLength(1);
    const response = await server.post(`/v1/sessions/${id}/resume`);
    expect(await problemOf(response)).toMatchObject({ status: 409, code: "SESSION_CANCELED" });
  });

  test("continues when it is resumed before its pause takes effect", async () => {
    const gate = new Gate();
    const server = await startServer({ teams: [gate.team("gated", 3)] });
    server.drive();
    const { id } = await start(server, { team: "gated" });
    await vi.waitUntil(() => gate.entered.length === 1, { timeout: 60_000 });
    await act(server, `/v1/sessions/${id}/pause`);
    const resuming = act(server, `/v1/sessions/${id}/resume`);
    gate.open();
    await resuming;
    const done = await until(server, id, "completed");
    expect(done["steps"]).toBe(3);
  });
});

test("a session that waits for its turn can be canceled, and never runs", async () => {
  const gate = new Gate();
  const config = { server: { apiToken: token, places: 1 } };
  const server = await startServer({ teams: [gate.team()], config });
  server.drive();
  await start(server, { team: "gated", brief: "first" });
  const { id } = await start(server, { team: "gated", brief: "second" });
  await act(server, `/v1/sessions/${id}/cancel`);
  expect((await server.get<SessionPageView>(`/v1/sessions/${id}`)).status).toBe("canceled");
  gate.open();
  await vi.waitFor(async () => {
    const { counts } = await server.get<{ counts: { finished: number } }>("/v1/sessions");
    expect(counts.finished).toBe(2);
  }, 60_000);
  expect(gate.entered).toEqual(["first"]);
});

describe("a review", () => {
  test("approved with `resume` continues with the reviewed work", async () => {
    const server = await startServer({ teams: [reviewTeam] });
    server.drive();
    const { id } = await start(server, { team: "review" });
    await until(server, id, "parked");
    const checkpoints = await server.get<{ phase: string; awaitingReview: boolean }[]>(
      `/v1/sessions/${id}/checkpoints`,
    );
    expect(checkpoints.filter(({ awaitingReview }) => awaitingReview).map(({ phase }) => phase)).toEqual([
      "design",
    ]);
    await act(server, `/v1/sessions/${id}/approve`, { note: "fine", resume: true });
    const done = await until(server, id, "completed");
    expect(done.phases.map(({ personas }) => personas[0]?.attempts.length)).toEqual([1, 1]);
  });

  test("rejected needs a note, and is done again with it", async () => {
    const server = await startServer({ teams: [reviewTeam] });
    server.drive();
    const { id } = await start(server, { team: "review" });
    await until(server, id, "parked");
    const refused = await server.post(`/v1/sessions/${id}/reject`, {});
    expect(await problemOf(refused)).toMatchObject({ status: 400, code: "INPUT_INVALID" });
    await act(server, `/v1/sessions/${id}/reject`, { note: "shorter", resume: true });
    await vi.waitFor(async () => {
      const view = await server.get<SessionPageView>(`/v1/sessions/${id}`);
      expect(view.status).toBe("parked");
      expect(view.phases[0]).toMatchObject({ revision: 2, notes: ["shorter"] });
    }, 60_000);
  });

  test("answered with an edit is a new revision, and later phases rest on it", async () => {
    const server = await startServer({ teams: [reviewTeam] });
    server.drive();
    const { id } = await start(server, { team: "review" });
    await until(server, id, "parked");
    const edits = { design: { files: { "docs/design.md": "# Mine\n" } } };
    await act(server, `/v1/sessions/${id}/resume`, { edits });
    const done = await until(server, id, "completed");
    expect(done.phases[0]).toMatchObject({ revision: 2, source: { kind: "edited" } });
    const file = done.artifacts.find(({ path }) => path === "docs/design.md");
    const blob = await server.request(`/v1/sessions/${id}/artifacts/${file?.sha256}`);
    expect(await blob.text()).toBe("# Mine\n");
    const old = await server.get<{ files: { path: string; sha256: string }[] }>(
      `/v1/sessions/${id}/artifacts?at=${encodeURIComponent("phase:design@1")}`,
    );
    expect(old.files.find(({ path }) => path === "docs/design.md")?.sha256).not.toBe(file?.sha256);
    const wrong = await server.post(`/v1/sessions/${id}/resume`, { edits: { nowhere: { files: {} } } });
    expect(wrong.status).toBe(400);
  });

  test("edits of a phase that is not there are refused before anything is written", async () => {
    const server = await startServer({ teams: [reviewTeam] });
    server.drive();
    const { id } = await start(server, { team: "review" });
    const before = await until(server, id, "parked");
    const response = await server.post(`/v1/sessions/${id}/resume`, { edits: { desing: { outputs: {} } } });
    expect(await problemOf(response)).toMatchObject({ status: 400, code: "INPUT_INVALID" });
    const after = await server.get<SessionPageView>(`/v1/sessions/${id}`);
    expect(after).toMatchObject({ status: "parked", entries: before.entries });
  });
});

describe("signals that do not fit the status are conflicts", () => {
  test.each(["pause", "approve", "reject", "cancel"])("%s of a session that is done", async (word) => {
    const server = await startServer();
    server.drive();
    const { id } = await start(server);
    await until(server, id, "completed");
    const response = await server.post(`/v1/sessions/${id}/${word}`, word === "reject" ? { note: "x" } : {});
    expect(await problemOf(response)).toMatchObject({ status: 409, code: "SESSION_CONFLICT" });
  });
});

test("a phase alone is run, its session rests, and a phase that is done stays done", async () => {
  const server = await startServer();
  server.drive();
  const { id } = await start(server, { only: ["first"] });
  await until(server, id, "paused");
  const wrong = await server.post(`/v1/sessions/${id}/phases/third`);
  expect(await problemOf(wrong)).toMatchObject({ status: 400, code: "INPUT_INVALID" });
  await act(server, `/v1/sessions/${id}/phases/first`);
  await until(server, id, "paused");
  await act(server, `/v1/sessions/${id}/phases/second`);
  const done = await until(server, id, "completed");
  expect(done.phases.map(({ personas }) => personas[0]?.attempts.length)).toEqual([1, 1]);
});

test("a resume after help was given grants a new set of rounds; a restart in between does not lose it", async () => {
  const server = await startServer({ teams: [failingTeam], config: quickRetries });
  server.drive();
  const { id } = await start(server, { team: "failing" });
  await until(server, id, "parked");
  await server.stop();
  // No scheduler runs here, so the resume is only recorded.
  const between = await startServer({
    teams: [failingTeam],
    config: quickRetries,
    stateDir: server.stateDir,
  });
  expect(await act(between, `/v1/sessions/${id}/resume`)).toMatchObject({ status: "queued" });
  await between.stop();
  const after = await startServer({ teams: [failingTeam], config: quickRetries, stateDir: server.stateDir });
  after.drive();
  await vi.waitFor(
    async () => {
      const view = await after.get<SessionPageView>(`/v1/sessions/${id}`);
      expect(view.phases[0]?.personas[0]?.attempts.map(({ round, attempt }) => [round, attempt])).toEqual([
        [1, 1],
        [1, 2],
        [2, 1],
        [2, 2],
      ]);
      expect(view.status).toBe("parked");
    },
    { timeout: 60_000 },
  );
});

test("a plan says what would be reused and what would run, and nothing happens", async () => {
  const server = await startServer();
  server.drive();
  const { id } = await start(server);
  const before = await until(server, id, "completed");
  const plan = async (body: object) =>
    (await (await server.post(`/v1/sessions/${id}/fork`, { dryRun: true, ...body })).json()) as PlanView;
  const nothing = await plan({ at: "second" });
  expect(nothing).toMatchObject({ nothingRuns: true, total: { lowUsd: 0, highUsd: 0 } });
  const fresh = await plan({ at: "second", fresh: true });
  expect(fresh.nothingRuns).toBe(false);
  expect(fresh.lines).toMatchObject([
    { action: "reuse", phases: ["first"] },
    { action: "run", phases: ["second"], personas: ["worker"] },
  ]);
  const { total } = await server.get<{ total: number }>("/v1/sessions");
  expect(total).toBe(1);
  expect((await server.get<SessionPageView>(`/v1/sessions/${id}`)).entries).toBe(before.entries);
  const wrong = await server.post(`/v1/sessions/${id}/fork`, { at: "third" });
  expect(await problemOf(wrong)).toMatchObject({ code: "INPUT_INVALID" });
});

test("a budget is set at the start, raised later, and is never missing in between", async () => {
  const server = await startServer();
  const { id } = await start(server, { budget: { tokens: 100 } });
  expect((await server.get<SessionPageView>(`/v1/sessions/${id}`)).limitTokens).toBe(100);
  const raised = await act(server, `/v1/sessions/${id}/budgets`, { tokens: 500, usd: 2 });
  expect(raised).toMatchObject({ limitUsd: 2 });
  const one = await act(server, `/v1/sessions/${id}/budgets`, { persona: "worker", tokens: 7 });
  expect(one.budgets.find(({ level }) => level === "persona")).toMatchObject({
    persona: "worker",
    limitTokens: 7,
  });
  for (const wrong of [{}, { persona: "nobody", tokens: 1 }, { tokens: -1 }, { usd: 0 }]) {
    const response = await server.post(`/v1/sessions/${id}/budgets`, wrong, "PATCH");
    expect(await problemOf(response), `for ${JSON.stringify(wrong)}`).toMatchObject({
      code: "INPUT_INVALID",
    });
  }
  const teams = await server.get<{ teams: { name: string }[] }>("/v1/teams");
  expect(teams.teams.map(({ name }) => name)).toEqual([quickTeam.name]);
});
