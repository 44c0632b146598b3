import { expect, test, vi } from "vitest";
import { defineTeam, HelpNeeded, persona, phase } from "../../../src/index.ts";
import type { PersonaDetail } from "../../../src/server/schemas/inside.ts";
import type { TeamsView, UsageReportView } from "../../../src/server/schemas/server.ts";
import type { SessionPageView } from "../../../src/server/schemas/session.ts";
import { activityView } from "../../../src/server/views/activity.ts";
import { problemOf, quickTeam, start, startServer, until } from "./support.ts";
import { failingTeam, quickRetries, reviewTeam } from "./teams.ts";

test("shows no work of a stopped session as running, and ends it when the session stopped", async () => {
  const server = await startServer({ teams: [failingTeam], config: quickRetries });
  server.drive();
  const { id } = await start(server, { team: "failing" });
  const view = await until(server, id, "parked");
  expect(view.phases).toMatchObject([{ name: "only", status: "failed", endedAt: view.since }]);
  expect(JSON.stringify(view.phases)).not.toContain('"running"');
});

test("explains an unrecognized failure by its error and adds no generic advice", async () => {
  const server = await startServer({ teams: [failingTeam], config: quickRetries });
  server.drive();
  const { id } = await start(server, { team: "failing", brief: "so" });
  const { stop, headline, explanation } = await until(server, id, "parked");
  expect(stop?.personas).toMatchObject([{ category: "UNKNOWN" }]);
  expect(headline).toBe("worker needs help after 2 attempts: it does not work: so");
  expect(explanation.why).toContain("it does not work: so");
  expect(explanation.todo).toMatchObject([
    { text: expect.stringMatching(/^Read the failures, fix the cause/) },
  ]);
});

test("quotes the advice of a persona that asks for help, even if its message resembles another failure", async () => {
  const helpless = defineTeam("helpless", {
    phases: [
      phase("only", {
        personas: [
          persona("importer", {
            run: ({ brief }) => {
              throw new HelpNeeded(brief, { advice: "Put prices.csv there, then resume." });
            },
          }),
        ],
      }),
    ],
  });
  const server = await startServer({ teams: [helpless], config: quickRetries });
  server.drive();
  for (const brief of ["The price list is missing.", "401 Unauthorized: invalid api key"]) {
    const { id } = await start(server, { team: "helpless", brief });
    const { explanation } = await until(server, id, "parked");
    expect(explanation.todo).toEqual([{ text: "Put prices.csv there, then resume.", command: null }]);
  }
});

test("explains the stop in every answer that is requested around the moment of a stop", async () => {
  const server = await startServer({ teams: [failingTeam], config: quickRetries });
  const briefs = Array.from({ length: 4 }, (_, index) => `so ${index}`);
  const started = await Promise.all(briefs.map((brief) => start(server, { team: "failing", brief })));
  const askUntilStopped = async (id: string): Promise<void> => {
    for (;;) {
      const page = await server.get<SessionPageView>(`/v1/sessions/${id}`);
      if (page.status !== "parked") continue;
      expect(page).toMatchObject({ stop: { personas: [{ category: "UNKNOWN" }] } });
      expect(page.phases).toMatchObject([{ status: "failed" }]);
      return;
    }
  };
  const asking = started.flatMap(({ id }) => [askUntilStopped(id), askUntilStopped(id)]);
  server.drive();
  await Promise.all(asking);
});

test("explains each persona where several need help, and counts them in the headline", async () => {
  const many = defineTeam("many", {
    phases: [
      phase("all", {
        personas: Array.from({ length: 12 }, (_, index) =>
          persona(`p${index}`, {
            run: async () => {
              if (index === 3) return { summary: "done" };
              if (index === 5) throw new HelpNeeded("No price list.", { advice: "Bring prices.csv." });
              throw new Error(`no ${index}`);
            },
          }),
        ),
      }),
    ],
  });
  const server = await startServer({ teams: [many], config: quickRetries });
  server.drive();
  const { id } = await start(server, { team: "many" });
  const { stop, headline, situation, explanation } = await until(server, id, "parked");
  expect(headline).toBe("11 personas need help in all");
  expect(situation).toMatchObject({ kind: "help", personas: 11, phase: "all" });
  expect(stop?.personas.map(({ persona }) => persona).toSorted()).toEqual(
    [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11].map((index) => `p${index}`).toSorted(),
  );
  expect(stop?.personas.find(({ persona }) => persona === "p7")).toMatchObject({
    phase: "all",
    attempts: 2,
    sameFailure: { count: 2, of: 2 },
  });
  const needOf = (name: string) => explanation.needs.find(({ persona }) => persona === name);
  expect(needOf("p7")).toMatchObject({ phase: "all", why: "no 7." });
  expect(needOf("p5")).toMatchObject({
    why: "No price list.",
    todo: [{ text: "Bring prices.csv.", command: null }],
  });
  const { sessions } = await server.get<{ sessions: SessionPageView[] }>("/v1/sessions");
  expect(sessions[0]?.situation).toMatchObject({ personas: 11 });
});

test("lists no needs where one persona stopped the session", async () => {
  const server = await startServer({ teams: [failingTeam], config: quickRetries });
  server.drive();
  const { id } = await start(server, { team: "failing", brief: "so" });
  const { stop, situation, explanation } = await until(server, id, "parked");
  expect(explanation.needs).toEqual([]);
  expect(stop?.personas).toMatchObject([{ persona: "worker", attempts: 2 }]);
  expect(situation).toMatchObject({ personas: 1 });
});

test("a ticket keeps the time of its delivery when the session changes later", async () => {
  const server = await startServer({ teams: [failingTeam], config: quickRetries });
  server.drive();
  const { id } = await start(server, { team: "failing" });
  await until(server, id, "parked");
  // The server delivers by itself, perhaps just now.
  const delivery = await vi.waitFor(async () => {
    const [record] = await server.maestro.ticketRecords();
    expect(record?.delivery.kind).toBe("delivered");
    return record?.delivery;
  }, 60_000);
  const before = await server.get<SessionPageView>(`/v1/sessions/${id}`);
  expect(delivery).toMatchObject({ at: Date.parse(before.ticket?.at ?? "") });
  await server.post(`/v1/sessions/${id}/budgets`, { usd: 9 }, "PATCH");
  expect((await server.get<SessionPageView>(`/v1/sessions/${id}`)).ticket).toEqual(before.ticket);
});

test("a review shows outputs besides files, and they can be edited", async () => {
  const server = await startServer({ teams: [reviewTeam] });
  server.drive();
  const { id } = await start(server, { team: "review", brief: "a bridge" });
  const { review } = await until(server, id, "parked");
  const result = { summary: "designed a bridge", outputs: { brief: "a bridge" } };
  expect(review?.results).toEqual([{ persona: "architect", ...result }]);
  const path = `/v1/sessions/${id}/phases/design/personas/architect`;
  expect((await server.get<PersonaDetail>(path)).result).toEqual(result);
  const edits = { design: { outputs: { architect: { brief: "a tunnel" } } } };
  expect((await server.post(`/v1/sessions/${id}/resume`, { edits })).status).toBe(202);
  await until(server, id, "completed");
  expect((await server.get<PersonaDetail>(path)).result?.outputs).toEqual({ brief: "a tunnel" });
});

test.each(["completed", "queued"])(
  "a phase that is not there is refused of a %s session too",
  async (status) => {
    const server = await startServer();
    if (status === "completed") server.drive();
    const { id } = await start(server);
    await until(server, id, status);
    const refused = await problemOf(await server.post(`/v1/sessions/${id}/phases/nowhere`));
    expect(refused).toMatchObject({ status: 400, advice: "Its phases: first, second." });
  },
);

test("rejects status=retrying together with other statuses", async () => {
  const server = await startServer();
  expect((await server.request("/v1/sessions?status=retrying")).status).toBe(200);
  const refused = await problemOf(await server.request("/v1/sessions?status=retrying,failed"));
  expect(refused).toMatchObject({ status: 400, code: "INPUT_INVALID" });
});

test("usage shows the budget of today and of each unfinished session with a limit", async () => {
  const server = await startServer({ config: { budget: { dayUsd: 20 } } });
  const { id } = await start(server, { key: "limited", budget: { usd: 9 } });
  await start(server);
  const { budgets } = await server.get<UsageReportView>("/v1/usage");
  const [today, session, ...more] = budgets;
  expect(today).toMatchObject({ level: "day", id: null, limitUsd: 20, usedUsd: 0 });
  expect(session).toMatchObject({ level: "session", id, key: "limited", limitUsd: 9, usedUsd: 0 });
  expect(more).toEqual([]);
  const own = await server.get<UsageReportView>("/v1/usage?session=limited");
  expect(own.budgets).toEqual([session]);
});

test("derives the activity of a persona from its last recorded step", () => {
  const at = Date.parse("2026-11-15T00:00:00Z");
  const since = "2026-11-15T00:00:00.000Z";
  const step = (name: string) => ({ name, at });
  const write = { tool: "write_file", args: { path: "src/a.ts", content: "x" } };
  expect(activityView({ lastStep: undefined, modelCalls: 0 }, [])).toBeNull();
  expect(activityView({ lastStep: step("simulated"), modelCalls: 1 }, [write])).toEqual({
    doing: "writes",
    target: "src/a.ts",
    since,
  });
  expect(activityView({ lastStep: step("write_file"), modelCalls: 1 }, [])).toMatchObject({
    doing: "thinks",
    target: null,
  });
  expect(activityView({ lastStep: step("s 19"), modelCalls: 0 }, [])).toMatchObject({
    doing: "ran",
    target: "s 19",
  });
});

test("lists teams with their file, so that a command can name them", async () => {
  const server = await startServer({ teams: [quickTeam] });
  const { teams } = await server.get<TeamsView>("/v1/teams");
  expect(teams).toMatchObject([{ name: "quick", builtIn: false, file: null }]);
});
