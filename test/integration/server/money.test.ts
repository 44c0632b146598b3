import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { defineTeam, type PersonaContext, persona, phase, type Team } from "../../../src/index.ts";
import type { UsageReportView } from "../../../src/server/schemas/server.ts";
import type { SessionPageView } from "../../../src/server/schemas/session.ts";
import { answer, ask, ownModel } from "../run/own-models.ts";
import { quickTeam, start, startServer, type TestServer, teamOf, until } from "./support.ts";

const spending = (tokens: number) => async (context: PersonaContext) => {
  await ask(
    ownModel(async () => answer(tokens, 0)),
    context,
    "q",
  );
  return { summary: "done" };
};

async function startDriven(teams: readonly Team[]): Promise<TestServer> {
  const server = await startServer({ teams });
  server.drive();
  return server;
}

const startSession = async (server: TestServer, team: string, more: object = {}): Promise<string> =>
  (await start(server, { team, ...more })).id;
const finished = (server: TestServer, id: string) => until(server, id, "completed");
const pageOf = (server: TestServer, id: string) => server.get<SessionPageView>(`/v1/sessions/${id}`);

const unknown = { ...ownModel(async () => answer(100, 0)), provider: "somebody.chat", modelId: "large" };

test("usage comes as CSV, for a spreadsheet", async () => {
  const server = await startDriven([teamOf("spender", spending(1_000))]);
  await finished(server, await startSession(server, "spender"));
  const response = await server.request("/v1/usage?by=model&format=csv");
  expect(response.headers.get("content-type")).toContain("text/csv");
  const [head, row, end] = (await response.text()).split("\r\n");
  expect(head).toMatch(/^model,calls,.*costUsd/);
  expect(row).toMatch(/^openai\/gpt-5,1,0,1000,/);
  expect(end).toBe("");
  expect((await server.request("/v1/usage?format=xml")).status).toBe(400);
});

test("warnings are in the session's journal and in the server's log, and those of one session are not lost behind others", async () => {
  const many = defineTeam("many", {
    phases: [
      phase("all", {
        personas: Array.from({ length: 60 }, (_, index) =>
          persona(`p${index}`, { budget: { tokens: 2_000 }, run: spending(1_700) }),
        ),
      }),
    ],
  });
  const server = await startDriven([teamOf("spender", spending(1_700)), many]);
  const first = await startSession(server, "spender", { budget: { tokens: 2_000 } });
  await finished(server, first);
  await finished(server, await startSession(server, "many"));
  const { alerts } = await server.get<UsageReportView>(`/v1/usage?session=${first}`);
  expect(alerts).toMatchObject([{ kind: "budget-most", id: first }]);
  expect((await server.get<UsageReportView>("/v1/usage")).alerts).toHaveLength(50);
  const response = await server.request(`/v1/sessions/${first}/events`, {
    headers: { accept: "application/json" },
  });
  const journal = (await response.json()) as { entries: { kind: string }[] };
  expect(journal.entries.find(({ kind }) => kind === "budget.alerted")).toMatchObject({
    message: "budget of the session: 1,700 tokens of 2,000 tokens are gone",
  });
  expect(server.notices.filter((notice) => notice.includes(first))).toEqual([
    expect.stringContaining("are gone"),
  ]);
});

test("reports an unknown price as unknown, not as 0", async () => {
  const team = teamOf("unpriced", async (context) => {
    await ask(unknown, context, "q");
    return { summary: "done" };
  });
  const server = await startDriven([team]);
  await finished(server, await startSession(server, "unpriced"));
  const report = await server.get<UsageReportView>("/v1/usage?by=model");
  expect(report.total).toMatchObject({ costUsd: null, unpricedCalls: 1 });
  expect(report.series).toMatchObject([{ name: "somebody/large", costUsd: null }]);
});

test("forecasts the rest of a session from past runs, on its page and in the report", async () => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  let runs = 0;
  const team = teamOf("spender", async (context) => {
    runs += 1;
    if (runs > 1) await held;
    return spending(8_000)(context);
  });
  const server = await startDriven([team]);
  await finished(server, await startSession(server, "spender"));
  const id = await startSession(server, "spender", { budget: { usd: 1 } });
  await expect.poll(() => runs).toBe(2);
  const page = await pageOf(server, id);
  expect(page.forecast).toEqual({ lowUsd: 0.01, highUsd: 0.01 });
  expect(page.budgets[0]).toMatchObject({ level: "session", forecastUsd: 0.01, reservedUsd: 0 });
  const report = await server.get<UsageReportView>("/v1/usage");
  expect(report.forecasts).toMatchObject([
    { id, forecast: { lowUsd: 0.01, highUsd: 0.01 }, finished: false },
  ]);
  letGo();
  await finished(server, id);
  expect((await pageOf(server, id)).forecast).toBeNull();
});

test("a damaged session does not affect the report of the others", async () => {
  const server = await startDriven([teamOf("spender", spending(8_000)), quickTeam]);
  await finished(server, await startSession(server, "spender"));
  const damaged = await startSession(server, "quick", { only: ["first"] });
  await until(server, damaged, "paused");
  const database = new DatabaseSync(join(server.stateDir, "maestro.db"), { timeout: 5_000 });
  database.exec(
    "UPDATE journal SET body = replace(body, '\"brief\"', '\"beirf\"') WHERE kind = 'session.created'",
  );
  database.close();
  const again = await startServer({ teams: [quickTeam], stateDir: server.stateDir });
  expect((await again.request(`/v1/sessions/${damaged}`)).status, "it is damaged").toBe(500);
  const { total, forecasts } = await again.get<UsageReportView>("/v1/usage");
  expect([total.costUsd, forecasts]).toEqual([0.01, []]);
});

test("compares the cost of a finished session with the forecast at its start", async () => {
  let tokens = 8_000;
  const team = teamOf("spender", async (context) => spending(tokens)(context));
  const server = await startDriven([team]);
  const first = await startSession(server, "spender");
  await finished(server, first);
  tokens = 16_000;
  const second = await startSession(server, "spender");
  await finished(server, second);
  tokens = 8_000;
  const third = await startSession(server, "spender");
  await finished(server, third);
  const { forecasts } = await server.get<UsageReportView>("/v1/usage");
  expect(forecasts, "the first session of a team has no forecast").toEqual([
    { id: third, key: null, forecast: { lowUsd: 0.01, highUsd: 0.02 }, actualUsd: 0.01, finished: true },
    { id: second, key: null, forecast: { lowUsd: 0.01, highUsd: 0.01 }, actualUsd: 0.02, finished: true },
  ]);
  const alone = await server.get<UsageReportView>(`/v1/usage?session=${second}`);
  expect(alone.forecasts).toMatchObject([{ id: second, actualUsd: 0.02 }]);
});
