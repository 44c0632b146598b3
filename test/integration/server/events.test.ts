import { describe, expect, test, vi } from "vitest";
import { type JournalEntry, streamEvents } from "../../../src/server/schemas/events.ts";
import type { StepsPage } from "../../../src/server/schemas/inside.ts";
import type { SessionPageView, SessionRow } from "../../../src/server/schemas/session.ts";
import { isDone, range, SseReader } from "./sse-reader.ts";
import { quickTeam, start, startServer, type TestServer, until } from "./support.ts";
import { failingTeam, Gate, hostile, quickRetries } from "./teams.ts";

const watch = async (server: TestServer, path: string, headers: Record<string, string> = {}) =>
  SseReader.of(await server.request(path, { headers }));

describe("the events of a session", () => {
  test("send every row from the first, each seq once, in order, then new ones", async () => {
    const gate = new Gate();
    const server = await startServer({ teams: [gate.team("gated", 20)] });
    server.drive();
    const { id } = await start(server, { team: "gated" });
    await vi.waitUntil(() => gate.entered.length === 1, { timeout: 60_000 });
    const reader = await watch(server, `/v1/sessions/${id}/events`);
    await reader.until((events) => events.some(({ data }) => data.includes('"attempt.started"')));
    gate.open();
    await reader.until(isDone);
    const { entries } = await server.get<SessionPageView>(`/v1/sessions/${id}`);
    expect(reader.ids("entry")).toEqual(range(1, entries));
    expect(reader.events[0]).toMatchObject({ event: "hello", id: undefined });
    await reader.cancel();
  });

  test("resume after Last-Event-ID or ?after= without gaps or repeats", async () => {
    const gate = new Gate();
    const server = await startServer({ teams: [gate.team("gated", 100)] });
    server.drive();
    const { id } = await start(server, { team: "gated" });
    gate.open();
    const seen: number[] = [];
    // Cut off again and again, while the session runs and after it.
    for (let cut = 0; cut < 40; cut += 1) {
      const last = String(seen.at(-1) ?? 0);
      const reader =
        cut % 2 === 0
          ? await watch(server, `/v1/sessions/${id}/events`, { "last-event-id": last })
          : await watch(server, `/v1/sessions/${id}/events?after=${last}`);
      const wanted = seen.length + 3;
      await reader.until((events) => isDone(events) || seen.length + events.length > wanted);
      seen.push(...reader.ids("entry"));
      const finished = isDone(reader.events);
      await reader.cancel();
      if (finished) break;
    }
    const { entries } = await until(server, id, "completed");
    const rest = await watch(server, `/v1/sessions/${id}/events?after=${seen.at(-1) ?? 0}`);
    await rest.until((events) => events.length > entries - (seen.at(-1) ?? 0));
    seen.push(...rest.ids("entry"));
    await rest.cancel();
    expect(seen).toEqual(range(1, entries));
  });

  test("prefer the header over the address, as a reconnecting browser needs", async () => {
    const server = await startServer();
    server.drive();
    const { id } = await start(server);
    const { entries } = await until(server, id, "completed");
    const path = `/v1/sessions/${id}/events?after=1`;
    const reader = await watch(server, path, { "last-event-id": String(entries - 2) });
    await reader.until((events) => events.length >= 3);
    expect(JSON.parse(reader.events[0]?.data ?? "")).toMatchObject({ replay: 2 });
    expect(reader.ids("entry")).toEqual([entries - 1, entries]);
    await reader.cancel();
  });

  test("have the shapes that are described, also of failures and of text that would do harm", async () => {
    const server = await startServer({ teams: [failingTeam], config: quickRetries });
    server.drive();
    const { id } = await start(server, { team: "failing", brief: hostile, key: hostile.slice(0, 100) });
    await until(server, id, "parked");
    const { entries } = await server.get<SessionPageView>(`/v1/sessions/${id}`);
    const reader = await watch(server, `/v1/sessions/${id}/events`);
    await reader.until((events) => events.some(({ event }) => event === "change"));
    expect(reader.ids("entry")).toEqual(range(1, entries));
    for (const { event, data } of reader.events) {
      const schema = streamEvents[event as keyof typeof streamEvents];
      expect(schema, `${event} is a known event`).toBeDefined();
      expect(schema.safeParse(JSON.parse(data)).error?.issues ?? [], `for ${event}`).toEqual([]);
      expect(data).not.toContain("\n");
    }
    const failed = reader.events
      .map(({ data }) => JSON.parse(data) as JournalEntry)
      .filter(({ kind }) => kind === "attempt.failed");
    expect(failed).toHaveLength(2);
    expect(failed[0]).toMatchObject({
      phase: "only",
      persona: "worker",
      round: 1,
      attempt: 1,
      next: "attempt",
    });
    await reader.cancel();
  });

  test("bring changes of the page as they happen, only what differs", async () => {
    const gate = new Gate();
    const server = await startServer({ teams: [gate.team("gated", 3)] });
    server.drive();
    const { id } = await start(server, { team: "gated" });
    await vi.waitUntil(() => gate.entered.length === 1, { timeout: 60_000 });
    const { entries } = await server.get<SessionPageView>(`/v1/sessions/${id}`);
    const reader = await watch(server, `/v1/sessions/${id}/events?after=${entries}`);
    await reader.until((events) => events.length > 0);
    gate.open();
    const changes = () =>
      reader.events
        .filter(({ event }) => event === "change")
        .map(({ data }) => JSON.parse(data) as { session?: { status?: string }; personas?: object[] });
    await reader.until(() => changes().some(({ session }) => session?.status === "completed"));
    expect(
      changes()
        .flatMap(({ personas = [] }) => personas)
        .at(-1),
    ).toMatchObject({
      phase: "only",
      persona: { name: "worker", status: "completed", summary: "through" },
    });
    await reader.cancel();
  });

  test("bring the followed persona's steps that were recorded before the stream opened", async () => {
    const gate = new Gate();
    gate.open();
    const server = await startServer({ teams: [gate.team("gated", 5)] });
    server.drive();
    const { id } = await start(server, { team: "gated" });
    await until(server, id, "completed");
    const path = `/v1/sessions/${id}/phases/only/personas/worker/steps`;
    const { steps } = await server.get<StepsPage>(path);
    const [first, ...missed] = steps.map(({ seq }) => seq);
    // As if the page had its steps up to the first one, and the rest was recorded before it could follow.
    const reader = await watch(server, `/v1/sessions/${id}/events?after=${first}&text=only/worker`);
    await reader.until((events) => events.some(({ event }) => event === "change"));
    const received = reader.events
      .filter(({ event }) => event === "step")
      .map(({ data }) => (JSON.parse(data) as { block: { seq: number } }).block.seq);
    expect(missed.length).toBeGreaterThan(2);
    expect(received).toEqual(missed);
    await reader.cancel();
  });

  test("stream rows written by another process", async () => {
    const gate = new Gate();
    gate.open();
    const team = gate.team("gated", 5);
    const server = await startServer({ teams: [team] });
    const other = await startServer({ teams: [team], stateDir: server.stateDir });
    const { id } = await start(server, { team: "gated" });
    const reader = await watch(server, `/v1/sessions/${id}/events`);
    await reader.until((events) => events.length > 1);
    other.drive();
    await reader.until(isDone);
    const { entries } = await server.get<SessionPageView>(`/v1/sessions/${id}`);
    expect(reader.ids("entry")).toEqual(range(1, entries));
    await reader.cancel();
  });

  test("are the same for two watchers, and one that leaves does not affect the other", async () => {
    const gate = new Gate();
    const server = await startServer({ teams: [gate.team("gated", 30)] });
    server.drive();
    const { id } = await start(server, { team: "gated" });
    const [one, two] = [
      await watch(server, `/v1/sessions/${id}/events`),
      await watch(server, `/v1/sessions/${id}/events`),
    ];
    await one.until((events) => events.length > 2);
    await one.cancel();
    gate.open();
    await two.until(isDone);
    const { entries } = await server.get<SessionPageView>(`/v1/sessions/${id}`);
    expect(two.ids("entry")).toEqual(range(1, entries));
    await two.cancel();
  });
});

describe("the events of all sessions", () => {
  const rowsOf = (reader: SseReader) =>
    reader.events
      .filter(({ event }) => event === "session")
      .map(({ data }) => JSON.parse(data) as SessionRow);

  test("bring the line of each session that changes, with numbers that only grow", async () => {
    const server = await startServer();
    server.drive();
    const reader = await watch(server, "/v1/events");
    await reader.until((events) => events.length > 0);
    expect(JSON.parse(reader.events[0]?.data ?? "")).toMatchObject({ replay: 0 });
    const [one, two] = [await start(server), await start(server)];
    await reader.until(() => {
      const done = new Set(
        rowsOf(reader)
          .filter(({ status }) => status === "completed")
          .map(({ id }) => id),
      );
      return done.has(one.id) && done.has(two.id);
    });
    const ids = reader.ids("session");
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    for (const { event, data } of reader.events)
      expect(
        streamEvents[event as keyof typeof streamEvents].safeParse(JSON.parse(data)).error?.issues ?? [],
      ).toEqual([]);
    await reader.cancel();
  });

  test("send a reconnecting watcher the newest row of each changed session, and no other", async () => {
    const server = await startServer();
    server.drive();
    const old = await start(server);
    await until(server, old.id, "completed");
    const { position } = await server.get<{ position: string }>("/v1/sessions");
    const fresh = await start(server);
    await until(server, fresh.id, "completed");
    const reader = await watch(server, `/v1/events?after=${position}`);
    await reader.until(() => rowsOf(reader).length > 0);
    expect(JSON.parse(reader.events[0]?.data ?? "")).toMatchObject({ replay: 1 });
    expect(rowsOf(reader)).toMatchObject([{ id: fresh.id, status: "completed" }]);
    const last = String(reader.ids("session").at(-1));
    await reader.cancel();
    const again = await watch(server, "/v1/events", { "last-event-id": last });
    await again.until((events) => events.length > 0);
    expect(JSON.parse(again.events[0]?.data ?? "")).toMatchObject({ replay: 0 });
    await again.cancel();
  });

  test("report a position beyond the journal as unknown", async () => {
    const server = await startServer();
    const reader = await watch(server, "/v1/events?after=999999");
    await reader.until((events) => events.length > 0);
    expect(JSON.parse(reader.events[0]?.data ?? "")).toMatchObject({ replay: null });
    await reader.cancel();
  });

  test("as a journal bring every row of every session once, also over interruptions", async () => {
    const gate = new Gate();
    gate.open();
    const server = await startServer({ teams: [gate.team("gated", 20), quickTeam] });
    server.drive();
    const started: SessionPageView[] = [];
    for (let count = 0; count < 6; count += 1)
      started.push(await start(server, { team: count % 2 === 0 ? "quick" : "gated" }));
    const rows: { sessionId: string; seq: number }[] = [];
    const positions: number[] = [];
    const readOn = async (count: number) => {
      const reader = await watch(server, `/v1/events?journal=true&after=${positions.at(-1) ?? 0}`);
      await reader.until((events) => events.filter(({ event }) => event === "journal").length >= count);
      positions.push(...reader.ids("journal"));
      for (const { event, data } of reader.events)
        if (event === "journal") rows.push(JSON.parse(data) as (typeof rows)[number]);
      await reader.cancel();
    };
    const finished = async () =>
      (await server.get<{ counts: { finished: number } }>("/v1/sessions")).counts.finished;
    // A session that is not done has at least one more row to tell.
    while ((await finished()) < started.length) await readOn(1);
    const { position } = await server.get<{ position: string }>("/v1/sessions");
    if (Number(position) > (positions.at(-1) ?? 0)) await readOn(Number(position) - (positions.at(-1) ?? 0));
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
    for (const { id } of started) {
      const { entries } = await server.get<SessionPageView>(`/v1/sessions/${id}`);
      const seqs = rows.filter(({ sessionId }) => sessionId === id).map(({ seq }) => seq);
      expect(seqs).toEqual(range(1, entries));
    }
  });
});

test("streams end when the server stops and hold no resources afterwards", async () => {
  const server = await startServer();
  const reader = await watch(server, "/v1/events");
  await reader.until((events) => events.length > 0);
  await server.stop();
  await reader.until(() => false);
  expect(reader.isDone).toBe(true);
});

test("HEAD opens no stream", async () => {
  const server = await startServer();
  const { id } = await start(server);
  for (const path of ["/v1/events", `/v1/sessions/${id}/events`])
    expect((await server.request(path, { method: "HEAD" })).status).toBe(200);
  const metrics = await (await server.request("/metrics")).text();
  expect(metrics).toContain("maestro_event_streams 0");
});
