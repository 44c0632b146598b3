import { expect, test, vi } from "vitest";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import type { SessionPageView } from "../../../src/server/schemas/session.ts";
import { start, startServer, token, until } from "./support.ts";
import { Gate } from "./teams.ts";

const places = (count: number) => ({ server: { apiToken: token, places: count } });

test("runs at most as many sessions as there are places, and tells the others their position in the queue", async () => {
  const gate = new Gate();
  const server = await startServer({ teams: [gate.team()], config: places(2) });
  server.drive();
  const briefs = ["a", "b", "c", "d", "e"];
  for (const brief of briefs) await start(server, { team: "gated", brief });
  await vi.waitUntil(() => gate.entered.length === 2);
  const { queue } = await server.get<{ queue: object }>("/v1/status");
  expect(queue).toEqual({ running: 2, places: 2, waiting: 3 });
  const { sessions } = await server.get<{ sessions: SessionPageView[] }>("/v1/sessions?status=queued");
  expect(sessions.map(({ brief, situation }) => [brief, "ahead" in situation && situation.ahead])).toEqual([
    ["e", 2],
    ["d", 1],
    ["c", 0],
  ]);
  expect(gate.entered.toSorted()).toEqual(["a", "b"]);
  gate.open();
  await vi.waitUntil(() => gate.entered.length === 5);
});

test("starts queued sessions in order", async () => {
  const gate = new Gate();
  const server = await startServer({ teams: [gate.team()], config: places(1) });
  server.drive();
  const briefs = ["a", "b", "c", "d"];
  for (const brief of briefs) await start(server, { team: "gated", brief });
  gate.open();
  await vi.waitUntil(() => gate.entered.length === 4, { timeout: 60_000 });
  expect(gate.entered).toEqual(briefs);
});

test("a restarted server resumes running and queued sessions", async () => {
  const first = new Gate();
  const before = await startServer({ teams: [first.team("gated", 2)], config: places(1) });
  before.drive();
  const running = await start(before, { team: "gated", brief: "ran" });
  const waiting = await start(before, { team: "gated", brief: "waited" });
  await vi.waitUntil(() => first.entered.length === 1);
  first.open();
  await before.stop();
  const second = new Gate();
  second.open();
  const after = await startServer({
    teams: [second.team("gated", 2)],
    config: places(1),
    stateDir: before.stateDir,
  });
  after.drive();
  expect((await until(after, running.id, "completed"))["steps"]).toBe(2);
  expect((await until(after, waiting.id, "completed"))["steps"]).toBe(2);
});

test("does not drive sessions that were only created", async () => {
  const gate = new Gate();
  gate.open();
  const team = gate.team();
  const server = await startServer({ teams: [team] });
  const held = await server.maestro.create(team, { brief: "held" });
  server.drive();
  const { id } = await start(server, { team: "gated", brief: "started" });
  await until(server, id, "completed");
  expect((await server.get<SessionPageView>(`/v1/sessions/${held.id}`)).status).toBe("queued");
  expect(gate.entered).toEqual(["started"]);
});

test("a session of an unregistered team waits without using a place", async () => {
  const gate = new Gate();
  const other = new Gate();
  const first = await startServer({ teams: [gate.team("one")], config: places(1) });
  const { id } = await start(first, { team: "one" });
  await first.stop();
  other.open();
  const clock = new ManualClock(Date.now());
  const second = await startServer({
    teams: [other.team("two")],
    config: places(1),
    stateDir: first.stateDir,
    clock,
  });
  second.drive();
  const mine = await start(second, { team: "two" });
  await until(second, mine.id, "completed");
  expect((await second.get<SessionPageView>(`/v1/sessions/${id}`)).status).toBe("queued");
  const said = () => second.notices.filter((notice) => notice.includes("could not be resumed"));
  await vi.waitUntil(() => said().length > 0);
  // A minute later it is tried again, for the same reason in vain, and that is not said again.
  await clock.advance(61_000);
  // It waits longer than this one, so it was tried before.
  const later = await start(second, { team: "two" });
  await until(second, later.id, "completed");
  expect(said()).toEqual([
    expect.stringMatching(
      /is not registered\..* It is tried again every minute\. .*--team\. See it: maestro show /,
    ),
  ]);
});

test("a stop lets the running step finish, records it, and rejects new requests", async () => {
  const gate = new Gate();
  const server = await startServer({ teams: [gate.team("gated", 5)] });
  server.drive();
  const { id } = await start(server, { team: "gated" });
  await vi.waitUntil(() => gate.entered.length === 1);
  const stopping = server.stop();
  const refused = await server.request("/v1/sessions");
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ code: "SHUTTING_DOWN" });
  expect((await server.app.request("http://127.0.0.1:4160/healthz")).status).toBe(200);
  gate.open();
  await stopping;
  const next = new Gate();
  next.open();
  const again = await startServer({ teams: [next.team("gated", 5)], stateDir: server.stateDir });
  again.drive();
  const done = await until(again, id, "completed");
  expect(done["steps"]).toBe(5);
  expect(done.restarts, "a clean end is no crash").toEqual([]);
});
