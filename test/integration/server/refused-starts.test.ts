import { afterEach, expect, test, vi } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import type { SessionPageView } from "../../../src/server/schemas/session.ts";
import { problemOf, start, startServer, type TestServer, until } from "./support.ts";

afterEach(() => void vi.unstubAllEnvs());

const modelTeam = defineTeam("asks", {
  model: "anthropic/claude-sonnet-4-5",
  phases: [
    phase("one", { personas: [persona("writer", { instructions: "Write." })] }),
    phase("two", { personas: [persona("reader", { instructions: "Read." })] }),
  ],
});

const total = async (server: TestServer) => (await server.get<{ total: number }>("/v1/sessions")).total;

test("an impossible start is rejected at its field and leaves nothing; the corrected one starts", async () => {
  const server = await startServer();
  const post = (body: object) =>
    server.post("/v1/sessions", { team: "quick", brief: "b", key: "k", ...body });
  const wrong: [string, object][] = [
    ["only", { only: ["thrid"] }],
    ["from", { from: "third" }],
    ["from", { from: "second" }],
    ["until", { until: "third" }],
    ["only", { only: ["second"] }],
  ];
  for (const [field, direction] of wrong) {
    const response = await post({ budget: { usd: 0.01 }, ...direction });
    const problem = await problemOf(response);
    expect(problem, JSON.stringify(direction)).toMatchObject({ status: 400, code: "INPUT_INVALID" });
    expect(problem.fields?.map((each) => each.field)).toEqual([field]);
  }
  expect((await post({ from: "second", until: "first" })).status).toBe(400);
  expect(await total(server)).toBe(0);
  expect(await (await server.request("/metrics")).text()).toContain('maestro_sessions{status="queued"} 0');
  const right = await post({ only: ["first"], budget: { usd: 5 } });
  expect(right.status).toBe(201);
  expect(await right.json()).toMatchObject({ status: "queued", limitUsd: 5 });
  server.drive();
  await until(server, "k", "paused");
});

test("an unusable model is rejected at its field, at a start and at a fork, and leaves nothing", async () => {
  vi.stubEnv("ANTHROPIC_API_KEY", "");
  const server = await startServer({ teams: [modelTeam] });
  const post = (body: object) => server.post("/v1/sessions", { team: "asks", brief: "b", key: "k", ...body });
  const wrong: [object, RegExp][] = [
    [{ model: "nope/zzz" }, /no provider that Maestro knows/],
    [{ model: "anthropic" }, /names a provider but no model/],
    [{}, /There is no key for anthropic: ANTHROPIC_API_KEY is not set/],
  ];
  for (const [body, saying] of wrong) {
    const problem = await problemOf(await post(body));
    expect(problem).toMatchObject({
      status: 400,
      code: "INPUT_INVALID",
      detail: expect.stringMatching(saying),
    });
    expect(problem.fields).toMatchObject([{ field: "model", message: expect.stringMatching(saying) }]);
    expect(problem.advice).toMatch(/simulated|provider\/model/);
  }
  expect(await total(server)).toBe(0);
  expect(await server.get("/v1/tickets")).toMatchObject({ tickets: [] });
  const { id } = await start(server, { team: "asks", model: "simulated", key: "k" });
  server.drive();
  await until(server, id, "completed");
  for (const dryRun of [true, false]) {
    const forked = await server.post(`/v1/sessions/${id}/fork`, { at: "two", model: "nope/zzz", dryRun });
    expect((await problemOf(forked)).fields).toMatchObject([{ field: "model" }]);
  }
  expect(await total(server)).toBe(1);
  const fork = await server.post(`/v1/sessions/${id}/fork`, { at: "two", fresh: true });
  expect(fork.status, "its own model is simulated").toBe(201);
});

test("a known key with another model or budget is a conflict, and the session stays unchanged", async () => {
  const server = await startServer({ teams: [modelTeam] });
  const body = { team: "asks", brief: "b", key: "k", model: "simulated", budget: { usd: 1 } };
  await start(server, body);
  vi.stubEnv("OPENAI_API_KEY", "sk-a-key-of-no-use");
  const before = await server.get<SessionPageView>("/v1/sessions/k");
  for (const [field, other] of [
    ["model", { model: "openai/gpt-5" }],
    ["budget", { budget: { usd: 2 } }],
  ] as const) {
    const problem = await problemOf(await server.post("/v1/sessions", { ...body, ...other }));
    expect(problem).toMatchObject({ status: 409, code: "SESSION_CONFLICT" });
    expect(problem.fields).toMatchObject([{ field, message: expect.stringContaining('The key "k"') }]);
    expect(problem.advice).toMatch(/^Use another key/);
  }
  expect((await server.get<SessionPageView>("/v1/sessions/k")).entries).toBe(before.entries);
  expect((await server.post("/v1/sessions", body)).status).toBe(200);
});

test("a known key with other phases is a conflict for a running session; the same phases leave it alone", async () => {
  const server = await startServer();
  const body = { team: "quick", brief: "b", key: "k", until: "first", pauseAfter: ["first"] };
  const post = (more: object) =>
    server.post("/v1/sessions", { team: "quick", brief: "b", key: "k", ...more });
  await start(server, body);
  const { entries } = await server.get<SessionPageView>("/v1/sessions/k");
  const others: [string, object][] = [
    ["until", { until: "second", pauseAfter: ["first"] }],
    ["only", { only: ["first"], until: "first", pauseAfter: ["first"] }],
    ["pauseAfter", { until: "first", pauseAfter: ["second"] }],
  ];
  for (const [field, other] of others) {
    const problem = await problemOf(await post(other));
    expect(problem, JSON.stringify(other)).toMatchObject({
      status: 409,
      code: "SESSION_CONFLICT",
      fields: [{ field, message: expect.stringContaining("has not stopped yet") }],
    });
  }
  for (const same of [body, {}]) expect((await post(same)).status).toBe(200);
  expect((await server.get<SessionPageView>("/v1/sessions/k")).entries).toBe(entries);
  server.drive();
  await until(server, "k", "parked");
  await server.post("/v1/sessions/k/approve", {});
  expect((await post({})).status, "it has stopped, and goes on as it is asked now").toBe(200);
  await until(server, "k", "completed");
});

test("an existing session resumes with its own model, and a resume without that model's API key is rejected", async () => {
  vi.stubEnv("ANTHROPIC_API_KEY", "");
  const server = await startServer({ teams: [modelTeam], config: { model: "anthropic/claude-sonnet-4-5" } });
  const { id } = await start(server, { team: "asks", model: "simulated", key: "k", only: ["one"] });
  server.drive();
  await until(server, id, "paused");
  const again = await server.post("/v1/sessions", { team: "asks", brief: "b", key: "other" });
  expect(again.status, "a new one has the server's").toBe(400);
  expect((await server.post("/v1/sessions", { team: "asks", brief: "something", key: "k" })).status).toBe(
    200,
  );
  await until(server, id, "completed");

  vi.stubEnv("ANTHROPIC_API_KEY", "a-key-of-no-use");
  const { id: keyed } = await start(server, { team: "asks", key: "keyed", budget: { tokens: 1 } });
  await until(server, keyed, "parked");
  vi.stubEnv("ANTHROPIC_API_KEY", "");
  const resumed = await problemOf(await server.post(`/v1/sessions/${keyed}/resume`));
  expect(resumed).toMatchObject({ status: 400, detail: expect.stringContaining("ANTHROPIC_API_KEY") });
  expect((await server.get<SessionPageView>(`/v1/sessions/${keyed}`)).status).toBe("parked");
});

test("actions that resume a session are rejected while its model is unusable, and record nothing", async () => {
  vi.stubEnv("ANTHROPIC_API_KEY", "");
  const reviewed = defineTeam("reviewed", {
    phases: [
      phase("one", {
        review: true,
        personas: [persona("coder", { run: async () => ({ summary: "done" }) })],
      }),
      phase("two", {
        review: true,
        personas: [persona("writer", { instructions: "Write.", model: "anthropic/claude-sonnet-4-5" })],
      }),
    ],
  });
  const server = await startServer({ teams: [reviewed] });
  server.drive();
  vi.stubEnv("ANTHROPIC_API_KEY", "a-key-of-no-use");
  const { id } = await start(server, { team: "reviewed" });
  await until(server, id, "parked");
  vi.stubEnv("ANTHROPIC_API_KEY", "");
  const before = await server.get<SessionPageView>(`/v1/sessions/${id}`);
  const going: [string, object, string?][] = [
    ["approve", { resume: true }],
    ["reject", { note: "again", resume: true }],
    ["budgets", { usd: 1, resume: true }, "PATCH"],
    ["resume", {}],
    ["phases/two", {}],
  ];
  for (const [action, body, method] of going) {
    const problem = await problemOf(await server.post(`/v1/sessions/${id}/${action}`, body, method));
    expect(problem, action).toMatchObject({
      status: 400,
      detail: expect.stringContaining("ANTHROPIC_API_KEY is not set"),
      advice: expect.stringContaining("fork the session with another model"),
    });
  }
  expect((await server.get<SessionPageView>(`/v1/sessions/${id}`)).entries).toBe(before.entries);
  expect((await server.post(`/v1/sessions/${id}/approve`, {})).status, "the word alone needs no model").toBe(
    202,
  );
});

test("completed phases need no model: the rest resumes without its API key", async () => {
  vi.stubEnv("ANTHROPIC_API_KEY", "");
  const team = defineTeam("half", {
    model: "anthropic/claude-sonnet-4-5",
    phases: [
      phase("one", { personas: [persona("writer", { instructions: "Write." })] }),
      phase("two", {
        review: true,
        personas: [persona("coder", { run: async () => ({ summary: "done" }) })],
      }),
    ],
  });
  const server = await startServer({ teams: [team] });
  server.drive();
  const { id } = await server.maestro.create(team, { brief: "b", given: { one: { summary: "Written." } } });
  expect((await server.post(`/v1/sessions/${id}/resume`)).status).toBe(202);
  await until(server, id, "parked");
  const { entries } = await server.get<SessionPageView>(`/v1/sessions/${id}`);
  const again = await server.post(`/v1/sessions/${id}/reject`, { note: "again", resume: true });
  expect(again.status).toBe(202);
  await vi.waitUntil(async () => {
    const { status, entries: now } = await server.get<SessionPageView>(`/v1/sessions/${id}`);
    return status === "parked" && now > entries + 2;
  });
  expect((await server.post(`/v1/sessions/${id}/approve`, { resume: true })).status).toBe(202);
  await until(server, id, "completed");
});
