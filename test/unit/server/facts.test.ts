import { expect, test } from "vitest";
import type { PersonaDetail } from "../../../src/server/schemas/inside.ts";
import type { TeamsView } from "../../../src/server/schemas/server.ts";
import type { SessionPageView } from "../../../src/server/schemas/session.ts";
import { problemOf, quickTeam, start, startServer, until } from "./support.ts";
import { failingTeam, quickRetries, reviewTeam } from "./teams.ts";

test("nothing of a session that stopped is said to run, and it ends when the session did", async () => {
  const server = await startServer({ teams: [failingTeam], config: quickRetries });
  server.drive();
  const { id } = await start(server, { team: "failing" });
  const view = await until(server, id, "parked");
  expect(view.phases).toMatchObject([{ name: "only", status: "stopped", endedAt: view.since }]);
  expect(JSON.stringify(view.phases)).not.toContain('"running"');
});

test("of a failure that nothing recognized only the error is told, no meaning and no advice", async () => {
  const server = await startServer({ teams: [failingTeam], config: quickRetries });
  server.drive();
  const { id } = await start(server, { team: "failing", brief: "so" });
  const { stop, situation } = await until(server, id, "parked");
  expect(stop).toMatchObject({ category: "UNKNOWN", meaning: null, suggestedFix: null });
  expect(situation).toMatchObject({ message: expect.stringContaining("it does not work: so") });
});

test("a ticket keeps the time it was delivered, whatever happens to the session later", async () => {
  const server = await startServer({ teams: [failingTeam], config: quickRetries });
  server.drive();
  const { id } = await start(server, { team: "failing" });
  await until(server, id, "parked");
  await server.maestro.deliverTickets();
  const before = await server.get<SessionPageView>(`/v1/sessions/${id}`);
  const [record] = await server.maestro.ticketRecords();
  expect(record?.delivery).toMatchObject({ kind: "delivered", at: Date.parse(before.ticket?.at ?? "") });
  await server.post(`/v1/sessions/${id}/budgets`, { usd: 9 }, "PATCH");
  expect((await server.get<SessionPageView>(`/v1/sessions/${id}`)).ticket).toEqual(before.ticket);
});

test("a review shows what was handed on besides files, and it can be edited", async () => {
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

test("retrying is asked for alone: together with others it would be silently ignored or mean too much", async () => {
  const server = await startServer();
  expect((await server.request("/v1/sessions?status=retrying")).status).toBe(200);
  const refused = await problemOf(await server.request("/v1/sessions?status=retrying,failed"));
  expect(refused).toMatchObject({ status: 400, code: "INPUT_INVALID" });
});

test("teams say where they were read from, so that a command can name them", async () => {
  const server = await startServer({ teams: [quickTeam] });
  const { teams } = await server.get<TeamsView>("/v1/teams");
  expect(teams).toMatchObject([{ name: "quick", builtIn: false, file: null }]);
});
