import { setImmediate } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import type { SessionId } from "../../../src/domain/ids.ts";
import { SessionFeed } from "../../../src/server/feed/session-feed.ts";
import { SessionStream } from "../../../src/server/feed/session-stream.ts";
import type { SessionPageView, SessionRow } from "../../../src/server/schemas/session.ts";
import type { SessionPages } from "../../../src/server/session-pages.ts";
import { SseChannel } from "../../../src/server/sse.ts";
import { range, type SseEvent, SseReader } from "./sse-reader.ts";
import { start, startServer, type TestServer, until } from "./support.ts";
import { Gate, reviewTeam } from "./teams.ts";

const watch = async (server: TestServer, path: string) => SseReader.of(await server.request(path));

const sessionsOf = (reader: SseReader) =>
  reader.events
    .filter(({ event }) => event === "session")
    .map(({ data }) => (JSON.parse(data) as SessionRow).id);

test.each(["/v1/events", "/v1/events?journal=true"])(
  "deleting the newest sessions stops neither the server nor those who watch %s",
  async (path) => {
    const server = await startServer();
    server.drive();
    const name = path.includes("journal") ? "journal" : "session";
    const open = await watch(server, path);
    await open.until((events) => events.length > 0);
    const gone = await start(server);
    await until(server, gone.id, "completed");
    await open.until((events) => events.some(({ event }) => event === name));
    const { position } = await server.get<{ position: string }>("/v1/sessions");
    await open.until(() => (open.ids(name).at(-1) ?? 0) >= Number(position));
    // Its driver may be just about to let go of it.
    await vi.waitFor(
      async () => expect((await server.maestro.prune({ keep: 0 })).sessions).toEqual([gone.id]),
      60_000,
    );

    // One who comes back with a number whose rows are gone, and one who comes new.
    const back = await watch(server, `${path}${path.includes("?") ? "&" : "?"}after=1`);
    const fresh = await watch(server, path);
    await Promise.all([back, fresh].map((reader) => reader.until((events) => events.length > 0)));
    const answered = await Promise.race([
      server.request("/healthz").then(({ status }) => status),
      setImmediate("nothing is answered any more"),
    ]);
    expect(answered).toBe(200);

    const next = await start(server);
    await until(server, next.id, "completed");
    for (const reader of [open, back, fresh]) {
      const isTold = () => reader.events.some(({ event, data }) => event === name && data.includes(next.id));
      await reader.until(isTold);
      const ids = reader.ids(name);
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
      await reader.cancel();
    }
  },
);

test("a watcher that reconnects after deletions gets every new session", async () => {
  const server = await startServer();
  server.drive();
  for (let count = 0; count < 3; count += 1) await until(server, (await start(server)).id, "completed");
  const { position } = await server.get<{ position: string }>("/v1/sessions");
  await vi.waitFor(async () => {
    await server.maestro.prune({ keep: 0 });
    expect(await server.maestro.sessions()).toEqual([]);
  }, 60_000);
  const next = await start(server);
  await until(server, next.id, "completed");
  const reader = await watch(server, `/v1/events?after=${position}`);
  await reader.until((events) => events.some(({ event }) => event === "session"));
  expect(JSON.parse(reader.events[0]?.data ?? "")).toMatchObject({ replay: 1 });
  expect(sessionsOf(reader)).toEqual([next.id]);
  await reader.cancel();
});

test("a stream watched from start to end has all changes, including budgets, decisions and files", async () => {
  const server = await startServer({ teams: [reviewTeam] });
  const { id } = await start(server, { team: "review" });
  const reader = await watch(server, `/v1/sessions/${id}/events`);
  await reader.until((events) => events.some(({ event }) => event === "entry"));
  server.drive();
  await until(server, id, "parked");
  await server.post(`/v1/sessions/${id}/budgets`, { usd: 11 }, "PATCH");
  await server.post(`/v1/sessions/${id}/approve`, { resume: true });
  const known: Partial<SessionPageView> = {};
  const isDone = () => {
    const changes = reader.events.filter(({ event }) => event === "change");
    for (const { data } of changes) {
      const { session, phases: _phases, personas: _personas, ...lists } = JSON.parse(data);
      Object.assign(known, session, lists);
    }
    return known.status === "completed" && (known.artifacts?.length ?? 0) > 0;
  };
  await reader.until(isDone);
  const page = await server.get<SessionPageView>(`/v1/sessions/${id}`);
  expect(known).toMatchObject({
    artifacts: page.artifacts,
    decisions: page.decisions,
    budgets: page.budgets,
  });
  expect(page.budgets).toMatchObject([{ level: "session", limitUsd: 11 }]);
  expect(page.decisions).toHaveLength(1);
  await reader.cancel();
});

test("sends the last change of a session even if it happens while the page is read", async () => {
  const gate = new Gate();
  const server = await startServer({ teams: [gate.team("gated", 1)] });
  server.drive();
  const { id } = await start(server, { team: "gated" });
  await vi.waitUntil(() => gate.entered.length === 1, { timeout: 60_000 });
  const feed = new SessionFeed(id as SessionId, server.maestro);
  await feed.advance();
  const reading = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let looks = 0;
  // A page that shows what was known when its reading began, however long that took.
  const pages = {
    view: async () => {
      const page = { status: feed.state.standing.status, phases: [] };
      const held = reading[looks];
      looks += 1;
      await held?.promise;
      return page;
    },
  } as unknown as SessionPages;
  const stream = new SessionStream(feed, {
    pages,
    clock: { now: () => 0 } as never,
    report: (notice) => expect.unreachable(notice),
  });
  const channel = new SseChannel(() => {});
  stream.join(channel);
  await stream.add(channel, { after: feed.head, text: undefined });
  const reader = new SseReader(channel.stream);
  await server.maestro.setBudget(id, { usd: 5 });
  await vi.waitFor(async () => {
    await feed.advance();
    expect(looks).toBe(1);
  }, 60_000);
  gate.open();
  await until(server, id, "completed");
  await feed.advance();
  expect(feed.state.standing.status).toBe("completed");
  reading[0]?.resolve();
  reading[1]?.resolve();
  const isTold = ({ event, data }: SseEvent) => event === "change" && data.includes('"status":"completed"');
  await reader.until((events) => events.some(isTold));
  expect(reader.events.findLast(({ event }) => event === "change")).toSatisfy(isTold);
  stream.stop();
  channel.end();
});

test("a watcher that reconnects ends with the newest page, even if the whole page was read before the last change", async () => {
  const gate = new Gate();
  const server = await startServer({ teams: [gate.team("gated", 1)] });
  server.drive();
  const { id } = await start(server, { team: "gated" });
  await vi.waitUntil(() => gate.entered.length === 1, { timeout: 60_000 });
  const feed = new SessionFeed(id as SessionId, server.maestro);
  await feed.advance();
  const first = Promise.withResolvers<void>();
  let looks = 0;
  const pages = {
    view: async () => {
      const page = { status: feed.state.standing.status, phases: [] };
      looks += 1;
      if (looks === 1) await first.promise;
      return page;
    },
  } as unknown as SessionPages;
  const stream = new SessionStream(feed, {
    pages,
    clock: { now: () => 0 } as never,
    report: (notice) => expect.unreachable(notice),
  });
  const steady = new SseChannel(() => {});
  stream.join(steady);
  await stream.add(steady, { after: feed.head, text: undefined });
  const channel = new SseChannel(() => {});
  stream.join(channel);
  const added = stream.add(channel, { after: 1, text: undefined });
  await vi.waitUntil(() => looks === 1, { timeout: 60_000 });
  gate.open();
  await until(server, id, "completed");
  await feed.advance();
  const isTold = ({ event, data }: SseEvent) => event === "change" && data.includes('"status":"completed"');
  // All other pages know that it is done; only then does the old page arrive.
  await new SseReader(steady.stream).until((events) => events.some(isTold));
  first.resolve();
  await added;
  const reader = new SseReader(channel.stream);
  await reader.until((events) => events.filter(({ event }) => event === "change").length === 2);
  expect(reader.events.findLast(({ event }) => event === "change")).toSatisfy(isTold);
  stream.stop();
  for (const each of [channel, steady]) each.end();
});

test("sends the last row of a session when it is written while the stream opens", async () => {
  // Each session completes some turns of the event loop later, so that one ends in every part of the opening.
  const gates = range(1, 8).map((turns) => ({ gate: new Gate(), name: `gated-${turns}`, turns }));
  const server = await startServer({ teams: gates.map(({ gate, name }) => gate.team(name, 1)) });
  server.drive();
  for (const { gate, name, turns } of gates) {
    const { id } = await start(server, { team: name });
    await vi.waitUntil(() => gate.entered.length === 1, { timeout: 60_000 });
    const { entries } = await server.get<SessionPageView>(`/v1/sessions/${id}`);
    const opening = watch(server, `/v1/sessions/${id}/events?after=${entries}`);
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
    gate.open();
    const reader = await opening;
    await reader.until((events) => events.some(({ data }) => data.includes('"status":"completed"')));
    expect(reader.isDone).toBe(false);
    await reader.cancel();
  }
});

test("replays everything for a seq beyond the journal, and says so", async () => {
  const server = await startServer();
  server.drive();
  const { id } = await start(server, { key: "k" });
  const { entries } = await until(server, id, "completed");
  await vi.waitFor(
    async () => expect((await server.maestro.prune({ keep: 0 })).sessions).toEqual([id]),
    60_000,
  );
  const again = await start(server, { key: "k", only: ["first"] });
  await until(server, again.id, "paused");
  const { entries: fewer } = await server.get<SessionPageView>("/v1/sessions/k");
  expect(fewer).toBeLessThan(entries);
  for (const [path, headers] of [
    ["/v1/sessions/k/events", { "last-event-id": String(entries) }],
    [`/v1/sessions/k/events?after=${entries + 5_000}`, {}],
  ] as const) {
    const reader = await SseReader.of(await server.request(path, { headers }));
    await reader.until(() => reader.ids("entry").length >= fewer);
    expect(JSON.parse(reader.events[0]?.data ?? "")).toMatchObject({ replay: null });
    expect(reader.ids("entry")).toEqual(range(1, fewer));
    await reader.cancel();
  }
});
