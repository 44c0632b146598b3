import { expect, test, vi } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import type { BreakerView } from "../../../src/server/schemas/server.ts";
import type { SessionPageView, SessionRow, ViewCounts } from "../../../src/server/schemas/session.ts";
import { quickTeam, start, startServer, type TestServer, until } from "./support.ts";
import { failingTeam, quickRetries } from "./teams.ts";

interface Page {
  readonly sessions: readonly SessionRow[];
  readonly cursor: string | null;
  readonly total: number;
  readonly counts: ViewCounts;
}

const briefsOf = ({ sessions }: Page) => sessions.map(({ brief }) => brief);

async function inPages(server: TestServer, query: string): Promise<string[]> {
  const briefs: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Page = await server.get<Page>(`/v1/sessions?limit=2${query}${cursor && `&cursor=${cursor}`}`);
    briefs.push(...briefsOf(page));
    cursor = page.cursor;
  }
  return briefs;
}

test("pages follow each other without a gap, also when sessions come in between", async () => {
  const server = await startServer();
  for (const brief of ["a", "b", "c", "d", "e"]) await start(server, { brief });
  expect(await inPages(server, "")).toEqual(["e", "d", "c", "b", "a"]);
  const first = await server.get<Page>("/v1/sessions?limit=2");
  await start(server, { brief: "f" });
  const second = await server.get<Page>(`/v1/sessions?limit=2&cursor=${first.cursor}`);
  expect([briefsOf(first), briefsOf(second)]).toEqual([
    ["e", "d"],
    ["c", "b"],
  ]);
  const exact = await server.get<Page>("/v1/sessions?limit=6");
  expect(exact.cursor, "a page that ends with the list has no next one").toBeNull();
});

test("finished sessions are listed by when they ended, active ones by when they were made", async () => {
  const server = await startServer({ teams: [quickTeam, failingTeam], config: quickRetries });
  server.drive();
  const started = [];
  for (const brief of ["a", "b"]) started.push(await start(server, { brief, until: "first" }));
  for (const { id } of started) await until(server, id, "paused");
  expect(briefsOf(await server.get<Page>("/v1/sessions?status=paused"))).toEqual(["b", "a"]);
  // The second one is done first.
  for (const { id } of started.toReversed()) {
    await server.post(`/v1/sessions/${id}/resume`);
    await until(server, id, "completed");
  }
  const failed = await start(server, { team: "failing", brief: "c" });
  await until(server, failed.id, "parked");
  expect(await inPages(server, "&status=completed,failed,canceled")).toEqual(["a", "b"]);
  expect(await inPages(server, "&status=completed,parked")).toEqual(["c", "a", "b"]);
  expect(await inPages(server, "")).toEqual(["c", "b", "a"]);
});

test("filters narrow the list and its counts alike; the status narrows only the list", async () => {
  const server = await startServer({ teams: [quickTeam, failingTeam], config: quickRetries });
  server.drive();
  const one = await start(server, { brief: "Parking for one city", key: "parking-1" });
  const other = await start(server, { team: "failing", brief: "Refunds" });
  await until(server, one.id, "completed");
  await until(server, other.id, "parked");
  const all = { parked: 1, active: 0, finished: 1, retrying: 0, failed: 0 };
  const page = async (query: string) => server.get<Page>(`/v1/sessions?${query}`);
  expect(await page("")).toMatchObject({ total: 2, counts: all });
  expect(await page("status=parked")).toMatchObject({ total: 1, counts: all });
  expect(await page("q=CITY")).toMatchObject({ total: 1, counts: { ...all, parked: 0 } });
  expect(briefsOf(await page("q=parking-1"))).toEqual(["Parking for one city"]);
  expect(briefsOf(await page(`q=${other.id.slice(0, 12)}&team=failing`))).toEqual(["Refunds"]);
  expect(await page("team=failing")).toMatchObject({ total: 1, counts: { ...all, finished: 0 } });
  expect(await page("since=2999-01-01")).toMatchObject({ total: 0, sessions: [], cursor: null });
  expect(await page("q=")).toMatchObject({ total: 2 });
});

test("a persona out of attempts needs a person at once; its phase has failed when the session parks", async () => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const fails = async () => {
    throw new Error("it does not work");
  };
  const waits = async () => {
    await opened;
    return { summary: "done" };
  };
  const team = defineTeam("halves", {
    phases: [
      phase("only", { personas: [persona("broken", { run: fails }), persona("slow", { run: waits })] }),
    ],
  });
  const server = await startServer({ teams: [team], config: quickRetries });
  server.drive();
  const { id } = await start(server, { team: "halves" });
  const headline = "1 persona needs you when this phase ends";
  const row = async () => (await server.get<Page>("/v1/sessions")).sessions[0];
  await vi.waitFor(async () => expect(await row()).toMatchObject({ status: "running", headline }), {
    interval: 20,
    timeout: 60_000,
  });
  const running = await server.get<SessionPageView>(`/v1/sessions/${id}`);
  expect(running).toMatchObject({
    headline,
    phases: [{ status: "running", personas: [{ status: "failed", needsYou: true }, { needsYou: false }] }],
  });
  open();
  const parked = await until(server, id, "parked");
  expect(parked.phases).toMatchObject([
    { status: "failed", personas: [{ status: "failed" }, { status: "completed" }] },
  ]);
  expect(parked.phases[0]?.endedAt).not.toBeNull();
  expect((await row())?.phases).toEqual([{ name: "only", status: "failed" }]);
});

test("a persona that waits to try again, or for a dependency, is shown as held up and not as running", async () => {
  let isUp = false;
  const team = defineTeam("waiting", {
    phases: [
      phase("only", {
        personas: [
          persona("caller", {
            run: async ({ step }) => {
              await step(
                "call",
                () => {
                  if (!isUp) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
                  return "up";
                },
                { dependency: "api.example/v1" },
              );
              return { summary: "called" };
            },
          }),
        ],
      }),
    ],
  });
  const server = await startServer({
    teams: [team],
    config: {
      attempts: { max: 5, baseDelayMs: 300, maxDelayMs: 300 },
      breaker: { threshold: 2, cooldownMs: 60_000 },
    },
  });
  server.drive();
  const { id } = await start(server, { team: "waiting" });
  const retrying = () => server.get<Page>("/v1/sessions?status=retrying");
  await vi.waitFor(async () => expect((await retrying()).total).toBe(1), { interval: 20, timeout: 60_000 });
  const row = await vi.waitFor(
    async () => {
      const [found] = (await retrying()).sessions;
      expect(found?.situation).toMatchObject({
        kind: "running",
        held: [{ persona: "caller", held: { kind: "breaker", dependency: "api.example/v1" } }],
      });
      return found;
    },
    { interval: 50, timeout: 60_000 },
  );
  expect(row?.id).toBe(id);
  const { breakers } = await server.get<{ breakers: BreakerView[] }>("/v1/breakers");
  expect(breakers).toMatchObject([
    {
      name: "api.example/v1",
      state: "open",
      threshold: 2,
      cooldownMs: 60_000,
      waiting: [{ id, phase: "only", persona: "caller", parked: false }],
    },
  ]);
  expect(await server.get("/v1/status")).toMatchObject({ breakersNotClosed: 1, counts: { retrying: 1 } });
  const metrics = await (await server.request("/metrics")).text();
  expect(metrics).toContain('maestro_breaker_state{dependency="api.example/v1",state="open"} 1');
  isUp = true;
  const reset = await server.post(`/v1/breakers/${encodeURIComponent("api.example/v1")}/reset`);
  expect(reset.status).toBe(200);
  expect(await reset.json()).toMatchObject({ name: "api.example/v1", state: "closed" });
  const done = await server.get<SessionPageView>(`/v1/sessions/${id}`);
  expect(["running", "completed"]).toContain(done.status);
});
