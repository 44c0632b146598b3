import { mkdirSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeManySessions } from "../e2e/server/support/many-sessions.ts";
import { newFolder, quantile, type ServerProcess, startServer } from "../e2e/server/support/server.ts";

interface Page {
  readonly sessions: { readonly id: string; readonly key: string; readonly status: string }[];
  readonly cursor: string | null;
  readonly total: number;
  readonly counts: Record<string, number>;
}

const sessions = 100_000;
const wantedMs = 200;
const rounds = 30;
const slow = { timeout: 400_000 };

/** Processor time of the server so far: independent of other work on the machine. */
async function cpuMs(server: ServerProcess): Promise<number> {
  const text = await (await server.fetch("/metrics")).text();
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]) * 1_000;
}

async function timed(server: ServerProcess, path: string): Promise<{ page: Page; tookMs: number }> {
  const startedMs = performance.now();
  const page = await server.get<Page>(path);
  return { page, tookMs: performance.now() - startedMs };
}

test(
  "100,000 sessions are listed, filtered and searched in under 200 ms (p95), page by page",
  slow,
  async () => {
    const stateDir = join(newFolder(), "state");
    mkdirSync(stateDir, { mode: 0o700 });
    await writeManySessions(stateDir, sessions);
    const server = await startServer(stateDir);
    const kinds = {
      newest: "/v1/sessions?limit=200",
      finished: "/v1/sessions?limit=200&status=completed,failed,canceled",
      parked: "/v1/sessions?limit=200&status=parked",
      team: "/v1/sessions?limit=200&team=billing",
      since: `/v1/sessions?limit=200&since=${new Date(Date.UTC(2026, 8, 1)).toISOString()}`,
      search: "/v1/sessions?limit=200&q=order-777",
      "search of everything": "/v1/sessions?limit=200&q=parking",
      "search of nothing": "/v1/sessions?limit=200&q=there-is-no-such-thing",
    };
    const slowest: Record<string, number> = {};
    const computed: Record<string, number> = {};
    let repeated = 0;
    for (const [kind, path] of Object.entries(kinds)) {
      const times: number[] = [];
      const seen = new Set<string>();
      let cursor: string | null = null;
      const before = await cpuMs(server);
      for (let count = 0; count < rounds; count += 1) {
        const { page, tookMs }: { page: Page; tookMs: number } = await timed(
          server,
          `${path}${cursor === null ? "" : `&cursor=${cursor}`}`,
        );
        times.push(tookMs);
        repeated += page.sessions.filter(({ id }) => seen.has(id)).length;
        for (const { id } of page.sessions) seen.add(id);
        cursor = page.cursor;
        // After the last page the next round starts again.
        if (cursor === null) seen.clear();
      }
      slowest[kind] = Math.round(quantile(times, 0.95));
      computed[kind] = Math.round(((await cpuMs(server)) - before) / rounds);
    }
    expect(repeated, "sessions listed twice").toBe(0);
    const { page } = await timed(server, kinds["search"]);
    expect(page.total).toBe(page.sessions.length);
    expect(page.sessions.map(({ key }) => key)).toContain("order-77700");
    expect((await timed(server, kinds["newest"])).page.total).toBe(sessions);
    for (const [kind, cpu] of Object.entries(computed))
      expect(cpu, `computing for "${kind}", of ${JSON.stringify(computed)}`).toBeLessThan(wantedMs);
    // On a busy machine elapsed time measures other work.
    if ((loadavg()[0] ?? 0) > availableParallelism()) return;
    for (const [kind, p95] of Object.entries(slowest))
      expect(p95, `p95 of "${kind}", of ${JSON.stringify(slowest)}`).toBeLessThan(wantedMs);
  },
);
