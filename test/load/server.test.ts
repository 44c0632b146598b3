import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { stall } from "../e2e/server/support/raw.ts";
import { newFolder, type ServerProcess, startServer, token } from "../e2e/server/support/server.ts";
import { range, SseReader } from "../integration/server/sse-reader.ts";

const team = join(import.meta.dirname, "../e2e/server/support/steps-team.ts");
const slow = { timeout: 300_000 };

interface View {
  readonly id: string;
  readonly status: string;
  readonly entries: number;
}

async function metric(server: ServerProcess, name: string): Promise<number> {
  const text = await (await server.fetch("/metrics")).text();
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.split(" ").at(-1) ?? Number.NaN);
}

/** The duration of a session with this many steps, by its own journal. */
async function runSession(server: ServerProcess, steps: number): Promise<{ id: string; tookMs: number }> {
  const { id } = await server.post<View>("/v1/sessions", { team: "steps", brief: `- ${steps} 0` });
  await vi.waitFor(
    async () => expect((await server.get<View>(`/v1/sessions/${id}`)).status).toBe("completed"),
    { timeout: 120_000, interval: 200 },
  );
  const first = (await journal(server, id, "before=4")).at(-1);
  const last = (await journal(server, id, "limit=1")).at(0);
  return { id, tookMs: Date.parse(last?.at ?? "") - Date.parse(first?.at ?? "") };
}

async function journal(server: ServerProcess, id: string, query: string) {
  const response = await server.fetch(`/v1/sessions/${id}/events?${query}`, {
    headers: { accept: "application/json" },
  });
  return ((await response.json()) as { entries: { at: string; seq: number }[] }).entries;
}

test(
  "100 clients that never read their events do not slow a session, are dropped, and use no memory",
  slow,
  async () => {
    const server = await startServer(join(newFolder(), "state"), ["--team", team]);
    const steps = 1_500;
    await runSession(server, steps);
    const alone = Math.min(
      (await runSession(server, steps)).tookMs,
      (await runSession(server, steps)).tookMs,
    );

    const path = "/v1/events?journal=true&after=0";
    const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nauthorization: Bearer ${token}\r\n\r\n`;
    const sockets = await Promise.all(Array.from({ length: 100 }, () => stall(server.port, request)));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await vi.waitFor(async () => expect(await metric(server, "maestro_event_streams")).toBe(100), {
      timeout: 30_000,
    });
    const before = await metric(server, "process_resident_memory_bytes");
    const times: number[] = [];
    for (let count = 0; count < 3; count += 1) times.push((await runSession(server, steps)).tookMs);
    const stalled = Math.min(...times);
    // Reading the journal for a hundred clients takes time, but the session waits for none.
    expect(stalled, `${alone} ms alone`).toBeLessThan(alone * 2 + 500);
    const grown = (await metric(server, "process_resident_memory_bytes")) - before;
    expect(grown / 1024 / 1024, "megabytes").toBeLessThan(200);

    // A client that reads receives every event meanwhile.
    const { id } = await server.post<View>("/v1/sessions", { team: "steps", brief: "- 200 0" });
    const reader = await SseReader.of(await server.fetch(`/v1/sessions/${id}/events`));
    // The end of the session, not of a phase.
    const isEnd = ({ event, data }: { event: string; data: string }) =>
      event === "entry" && data.includes('"session.status"') && data.includes('"completed"');
    await reader.until((events) => events.some(isEnd));
    const { entries } = await server.get<View>(`/v1/sessions/${id}`);
    expect(reader.ids("entry")).toEqual(range(1, entries));
    await reader.cancel();
  },
);

test(
  "a client that falls too far behind is dropped, and receives the rest when it reconnects",
  slow,
  async () => {
    const server = await startServer(join(newFolder(), "state"), ["--team", team]);
    const { id } = await server.post<View>("/v1/sessions", { team: "steps", brief: "- 20000 0" });
    const request = `GET /v1/sessions/${id}/events HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nauthorization: Bearer ${token}\r\n\r\n`;
    const socket = await stall(server.port, request);
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    await vi.waitFor(
      async () => expect(await metric(server, 'maestro_event_streams_closed_total{reason="slow"}')).toBe(1),
      { timeout: 200_000, interval: 500 },
    );
    let received = "";
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString();
    });
    socket.on("error", () => undefined);
    socket.resume();
    await closed;
    // Only complete events count: the last one may be cut off.
    const seen = [...received.matchAll(/^id: (\d+)\nevent: entry\ndata: .*\n\n/gm)].map(([, seq]) =>
      Number(seq),
    );
    expect(seen).toEqual(range(1, seen.length));
    await vi.waitFor(
      async () => expect((await server.get<View>(`/v1/sessions/${id}`)).status).toBe("completed"),
      { timeout: 200_000, interval: 500 },
    );
    const { entries } = await server.get<View>(`/v1/sessions/${id}`);
    const reader = await SseReader.of(await server.fetch(`/v1/sessions/${id}/events?after=${seen.length}`));
    await reader.until(
      (events) => events.filter(({ event }) => event === "entry").length >= entries - seen.length,
    );
    expect([...seen, ...reader.ids("entry")]).toEqual(range(1, entries));
    await reader.cancel();
  },
);

test(
  "the server answers 50 parallel requests for a minute without an error while sessions run, and its memory stays flat",
  slow,
  async () => {
    // A small heap forces V8 to collect garbage, so that growth means a leak.
    const server = await startServer(join(newFolder(), "state"), ["--team", team], {
      MAESTRO_API_TOKEN: token,
      NODE_OPTIONS: "--max-old-space-size=200",
    });
    for (let count = 0; count < 20; count += 1)
      await server.post("/v1/sessions", { team: "steps", brief: "- 5 0", key: `warm-${count}` });
    const paths = [
      "/v1/sessions",
      "/v1/sessions?status=completed&limit=10",
      "/v1/sessions?q=warm",
      "/v1/sessions/warm-1",
      "/v1/sessions/warm-2/checkpoints",
      "/v1/sessions/warm-3/artifacts",
      "/v1/sessions/warm-4/team",
      "/v1/usage",
      "/v1/status",
      "/v1/breakers",
      "/v1/tickets",
      "/v1/teams",
      "/metrics",
      "/openapi.json",
      "/healthz",
      "/",
    ];
    const statuses = new Map<number, number>();
    const work = async (worker: number, untilMs: number) => {
      for (let turn = 0; performance.now() < untilMs; turn += 1) {
        const isStart = worker === 0 && turn % 5 === 0;
        const response = isStart
          ? await server.fetch("/v1/sessions", {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ team: "steps", brief: "- 20 1" }),
            })
          : await server.fetch(paths[(worker + turn) % paths.length] ?? "/");
        await response.arrayBuffer();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      }
    };
    const together = async (seconds: number) => {
      const untilMs = performance.now() + seconds * 1_000;
      await Promise.all(Array.from({ length: 50 }, (_, worker) => work(worker, untilMs)));
    };
    // Memory grows until caches are full and code is compiled, and not afterwards.
    await together(15);
    const memory: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await together(15);
      memory.push((await metric(server, "process_resident_memory_bytes")) / 1024 / 1024);
    }
    expect(new Set(statuses.keys())).toEqual(new Set([200, 201]));
    expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(500);
    expect((memory[2] ?? 0) - (memory[0] ?? 0), `${memory.map(Math.round).join(", ")} MB`).toBeLessThan(80);
    expect(server.stderr()).not.toMatch(/Error|could not/);
  },
);
