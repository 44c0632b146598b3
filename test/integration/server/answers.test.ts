import type { z } from "@hono/zod-openapi";
import { describe, expect, test } from "vitest";
import { plan } from "../../../src/server/schemas/actions.ts";
import { journalPage } from "../../../src/server/schemas/events.ts";
import {
  artifactTree,
  checkpointInfo,
  personaDetail,
  stepsPage,
  teamDefinition,
} from "../../../src/server/schemas/inside.ts";
import {
  breakersView,
  serverStatus,
  teamsView,
  ticketsView,
  usageReport,
} from "../../../src/server/schemas/server.ts";
import { type SessionPageView, sessionsPage, sessionView } from "../../../src/server/schemas/session.ts";
import { list } from "../../../src/server/schemas/values.ts";
import { quickTeam, start, startServer, type TestServer, until } from "./support.ts";
import { brokenTeam, failingTeam, Gate, hostile, quickRetries, reviewTeam } from "./teams.ts";

/** Nothing missing, nothing of another kind: exactly what the description promises. */
async function expectShape(server: TestServer, path: string, schema: z.ZodType, headers = {}): Promise<void> {
  const response = await server.request(path, { headers });
  const text = await response.text();
  expect(response.status, `${path}: ${text}`).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json");
  const read = schema.safeParse(JSON.parse(text));
  expect(read.success ? [] : read.error.issues, `for ${path}`).toEqual([]);
}

/** One session of every kind there is. */
async function oneOfEach(gate: Gate) {
  const server = await startServer({
    teams: [quickTeam, reviewTeam, failingTeam, brokenTeam, gate.team()],
    config: { ...quickRetries, server: { apiToken: "a-token-that-only-tests-know-0123456789", places: 4 } },
  });
  server.drive();
  const ids = {
    completed: (await start(server, { brief: hostile, key: `completed ${hostile.slice(0, 30)}` })).id,
    review: (await start(server, { team: "review", budget: { usd: 5, tokens: 1_000 } })).id,
    help: (await start(server, { team: "failing", brief: hostile })).id,
    failed: (await start(server, { team: "broken" })).id,
    paused: (await start(server, { until: "first" })).id,
  };
  await until(server, ids.completed, "completed");
  await until(server, ids.review, "parked");
  await until(server, ids.help, "parked");
  await until(server, ids.failed, "failed");
  await until(server, ids.paused, "paused");
  const canceled = (await start(server, { only: ["first"] })).id;
  await until(server, canceled, "paused");
  await server.post(`/v1/sessions/${canceled}/cancel`);
  const forked = await server.post(`/v1/sessions/${ids.completed}/fork`, { at: "second", fresh: true });
  const fork = ((await forked.json()) as SessionPageView).id;
  await until(server, fork, "completed");
  const running = [];
  for (let count = 0; count < 5; count += 1)
    running.push((await start(server, { team: "gated", brief: `${count}` })).id);
  await until(server, running[0] ?? "", "running");
  return { server, ids: { ...ids, canceled, fork, running: running[0] ?? "", queued: running[4] ?? "" } };
}

test("every answer about every kind of session has the shape that is described", async () => {
  const gate = new Gate();
  const { server, ids } = await oneOfEach(gate);
  const page = await server.get<{ sessions: { id: string; status: string }[] }>("/v1/sessions");
  expect(new Set(page.sessions.map(({ status }) => status))).toEqual(
    new Set(["completed", "parked", "failed", "paused", "canceled", "running", "queued"]),
  );
  await expectShape(server, "/v1/sessions", sessionsPage);
  for (const id of Object.values(ids)) {
    const at = `/v1/sessions/${id}`;
    await expectShape(server, at, sessionView);
    await expectShape(server, `${at}/checkpoints`, list(checkpointInfo));
    await expectShape(server, `${at}/team`, teamDefinition);
    await expectShape(server, `${at}/artifacts`, artifactTree);
    for (const show of ["all", "transitions", "failures", "money"])
      await expectShape(server, `${at}/events?show=${show}`, journalPage, { accept: "application/json" });
    const { phases } = await server.get<SessionPageView>(at);
    for (const { name, personas } of phases) {
      for (const persona of personas) {
        const place = `${at}/phases/${name}/personas/${persona.name}`;
        await expectShape(server, place, personaDetail);
        await expectShape(server, `${place}/steps`, stepsPage);
      }
    }
  }
  await expectShape(server, "/v1/status", serverStatus);
  await expectShape(server, "/v1/breakers", breakersView);
  await expectShape(server, "/v1/tickets", ticketsView);
  await expectShape(server, "/v1/teams", teamsView);
  for (const by of ["persona", "phase", "model", "session", "day"])
    await expectShape(server, `/v1/usage?by=${by}`, usageReport);
  for (const [id, action, body] of [
    [ids.help, "resume", { dryRun: true }],
    [ids.completed, "fork", { dryRun: true, at: "second" }],
    [ids.completed, "fork", { dryRun: true, at: "first", fresh: true }],
  ] as const) {
    const response = await server.post(`/v1/sessions/${id}/${action}`, body);
    expect(response.status).toBe(200);
    expect(plan.safeParse(await response.json()).error?.issues ?? []).toEqual([]);
  }
  gate.open();
});

describe("the page of a session", () => {
  test("has facts and a headline for each status", async () => {
    const gate = new Gate();
    const { server, ids } = await oneOfEach(gate);
    const situationOf = async (id: string) =>
      (await server.get<SessionPageView>(`/v1/sessions/${id}`)).situation;
    const headlineOf = async (id: string) =>
      (await server.get<SessionPageView>(`/v1/sessions/${id}`)).headline;
    expect(await situationOf(ids.completed)).toMatchObject({
      kind: "completed",
      unverified: ["first", "second"],
    });
    expect(await situationOf(ids.review)).toMatchObject({
      kind: "review",
      phase: "design",
      filesChanged: 2,
      next: ["build"],
    });
    expect(await headlineOf(ids.review)).toBe("design waits for review, gate 1.00 of 0.50");
    expect(await situationOf(ids.help)).toMatchObject({
      kind: "help",
      phase: "only",
      persona: "worker",
      personas: 1,
    });
    expect(await headlineOf(ids.help)).toMatch(/^worker needs help after 2 attempts: /);
    expect(await situationOf(ids.failed)).toMatchObject({
      kind: "failed",
      phase: "only",
      acceptChanges: true,
    });
    expect(await headlineOf(ids.failed)).toMatch(/^Failed in only: /);
    expect(await headlineOf(ids.paused)).toBe("Paused after first (--until)");
    expect(await headlineOf(ids.canceled)).toBe("Canceled after first");
    expect(await headlineOf(ids.completed)).toBeNull();
    expect(await headlineOf(ids.running)).toBeNull();
    expect(await situationOf(ids.running)).toMatchObject({
      kind: "running",
      phases: ["only"],
      driverDied: false,
    });
    expect(await situationOf(ids.queued)).toEqual({ kind: "queued", ahead: 0, places: 4, inUse: 4 });
    const fork = await server.get<SessionPageView>(`/v1/sessions/${ids.fork}`);
    expect(fork.forkOf).toMatchObject({ id: ids.completed, at: "second" });
    expect(fork.phases.map(({ status }) => status)).toEqual(["reused", "completed"]);
    gate.open();
  });

  test("has everything that `show --json` promises, with budget, files, decisions and why it stopped", async () => {
    const gate = new Gate();
    const { server, ids } = await oneOfEach(gate);
    const review = await server.get<SessionPageView>(`/v1/sessions/${ids.review}`);
    for (const name of [
      "id key team brief status reason model createdAt updatedAt phases usage budgets ticket artifacts decisions",
    ].flatMap((names) => names.split(" ")))
      expect(review).toHaveProperty(name);
    expect(review.budgets).toMatchObject([
      { level: "session", limitUsd: 5, limitTokens: 1_000, usedTokens: 0 },
    ]);
    expect(review).toMatchObject({ limitUsd: 5, limitTokens: null });
    expect(review.artifacts.map(({ path, persona }) => [path, persona])).toEqual([
      ["docs/design.md", "architect"],
      ["page.html", "architect"],
    ]);
    expect(review.decisions).toMatchObject([
      { choice: "plain", rejected: [{ choice: "fancy" }], phase: "design", persona: "architect" },
    ]);
    expect(review.review).toMatchObject({
      phase: "design",
      revision: 1,
      checks: [{ kind: "deliverable", status: "passed" }],
      files: [{ path: "docs/design.md", before: null }, { path: "page.html" }],
    });
    const help = await server.get<SessionPageView>(`/v1/sessions/${ids.help}`);
    expect(help.stop?.personas).toMatchObject([
      { phase: "only", persona: "worker", sameFailure: { count: 2, of: 2 } },
    ]);
    expect(help.ticket).toMatchObject({ status: expect.stringMatching(/pending|posting|delivered/) });
    expect(help.phases[0]?.personas[0]?.attempts).toHaveLength(2);
    gate.open();
  });
});

test("lists the steps of an attempt oldest first, in contiguous pages", async () => {
  const gate = new Gate();
  gate.open();
  const server = await startServer({ teams: [gate.team("gated", 150)] });
  server.drive();
  const { id } = await start(server, { team: "gated" });
  await until(server, id, "completed");
  const at = `/v1/sessions/${id}/phases/only/personas/worker/steps`;
  const names: string[] = [];
  let before = "";
  for (;;) {
    const page = await server.get<{ steps: { seq: number; tool: string }[]; earlier: number }>(
      `${at}?limit=60${before}`,
    );
    names.unshift(...page.steps.map(({ tool }) => tool));
    if (page.earlier === 0) break;
    expect(page.earlier).toBe(150 - names.length);
    before = `&before=${page.steps[0]?.seq}`;
  }
  expect(names).toEqual(Array.from({ length: 150 }, (_, index) => `step ${index}`));
});

test("lists the journal newest first, in pages, with filters", async () => {
  const server = await startServer({ teams: [failingTeam], config: quickRetries });
  server.drive();
  const { id } = await start(server, { team: "failing" });
  const { entries: total } = await until(server, id, "parked");
  const accept = { headers: { accept: "application/json" } };
  const page = async (query: string) => {
    const response = await server.request(`/v1/sessions/${id}/events?${query}`, accept);
    return (await response.json()) as { entries: { seq: number; kind: string }[]; total: number };
  };
  const seqs: number[] = [];
  for (let before = ""; ; ) {
    const { entries } = await page(`limit=3${before}`);
    if (entries.length === 0) break;
    seqs.push(...entries.map(({ seq }) => seq));
    before = `&before=${seqs.at(-1)}`;
  }
  expect(seqs).toEqual(Array.from({ length: total }, (_, index) => total - index));
  const failures = await page("show=failures");
  expect(failures.total).toBe(2);
  expect(failures.entries.map(({ kind }) => kind)).toEqual(["attempt.failed", "attempt.failed"]);
  const transitions = await page("show=transitions&limit=2");
  expect(transitions.entries[0]).toMatchObject({ kind: "session.status", status: "parked", reason: "help" });
  expect(transitions.total).toBeGreaterThan(5);
});
