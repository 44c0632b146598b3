import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { LoopbackModels } from "../../support/loopback-models.ts";
import { base, start, startServer, token, until } from "./support.ts";
import { quickRetries } from "./teams.ts";

const model = "openai-compatible/metered";
const service = "api.example.org";
const shaky = "shaky.example.org";
const slowMs = 120;
const lockMs = 800;

const unavailable = () => Promise.reject(Object.assign(new Error("unavailable"), { status: 503 }));

/** Fails twice, each time for another reason; a step of it is slow; then a model is asked, twice. */
const team = defineTeam("metered", {
  model,
  phases: [
    phase("work", {
      personas: [
        persona("worker", {
          // One more than it needs: the last of a round would repeat the shaky call itself.
          maxAttempts: 4,
          run: async ({ step, failures }) => {
            await step("slow", () => pause(slowMs));
            if (failures.length === 2)
              await step("shaky", unavailable, { dependency: shaky }).catch(() => {});
            if (failures.length === 0) throw Object.assign(new Error("too slow"), { name: "TimeoutError" });
            if (failures.length === 1) throw new Error("nobody knows");
            return { summary: "done" };
          },
        }),
      ],
    }),
    phase("write", { personas: [persona("writer", { instructions: "Write it." })] }),
  ],
});

const down = defineTeam("down", {
  phases: [
    phase("only", {
      personas: [
        persona("caller", {
          maxAttempts: 3,
          run: async ({ step }) => {
            await step("call", unavailable, { dependency: service });
            return { summary: "done" };
          },
        }),
      ],
    }),
  ],
});

/** Values by name and labels, as a scraper over HTTP reads them. */
async function scrape(url: string): Promise<(series: string) => number | undefined> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const values = new Map(lines.map((line) => [line.replace(/ \S+$/, ""), Number(line.split(" ").at(-1))]));
  return (series) => values.get(series);
}

test("a run is measured: tokens, cost, attempts, failures by category, breakers, latency of steps and of commits", async () => {
  const models = await LoopbackModels.start([
    {
      calls: [{ id: "c", tool: "write_file", input: { path: "a.txt", content: "a\n" } }],
      usage: { input: 1_000, cached: 200, cacheWrite: 0, output: 100, reasoning: 30 },
    },
    {
      calls: [{ id: "d", tool: "submit", input: { summary: "done" } }],
      usage: { input: 2_000, cached: 1_500, cacheWrite: 0, output: 40, reasoning: 0 },
    },
  ]);
  for (const [name, value] of Object.entries(models.env)) vi.stubEnv(name, value);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await models.close();
  });
  const server = await startServer({
    teams: [team, down],
    config: {
      ...quickRetries,
      server: { apiToken: token, port: 0, publicUrl: base },
      prices: { [model]: { input: 2, cached: 1, output: 10, reasoning: 20 } },
      breaker: { threshold: 2, cooldownMs: 3_600_000 },
    },
  });
  const { host, port } = await server.listen();
  const url = `http://${host}:${port}`;

  const begun = performance.now();
  const { id } = await start(server, { team: "metered" });
  const view = await until(server, id, "completed");
  const { id: parked } = await start(server, { team: "down" });
  const stopped = await until(server, parked, "parked");
  const seconds = (performance.now() - begun) / 1_000;
  expect(stopped.reason).toBe("breaker");

  const now = await scrape(url);
  const tokens = (kind: string) => now(`maestro_tokens_total{model="${model}",kind="${kind}"}`);
  expect(["input", "cached_input", "output", "reasoning"].map(tokens)).toEqual([1_300, 1_700, 110, 30]);
  const usd = (1_300 * 2 + 1_700 * 1 + 110 * 10 + 30 * 20) / 1_000_000;
  expect(now(`maestro_cost_usd_total{model="${model}"}`)).toBeCloseTo(usd, 6);
  expect(now(`maestro_calls_total{model="${model}",outcome="settled"}`)).toBe(2);
  expect(now(`maestro_calls_total{model="${model}",outcome="failed"}`)).toBe(0);

  expect(now('maestro_attempts_total{outcome="completed"}')).toBe(2);
  expect(now('maestro_attempts_total{outcome="failed"}')).toBe(4);
  expect(now('maestro_failures_total{category="TIMEOUT"}')).toBe(1);
  expect(now('maestro_failures_total{category="UNKNOWN"}')).toBe(1);
  expect(now('maestro_failures_total{category="API_ERROR"}')).toBe(2);

  const breaker = (dependency: string) =>
    ["closed", "open", "half-open"].map((state) =>
      now(`maestro_breaker_state{dependency="${dependency}",state="${state}"}`),
    );
  expect(breaker(service)).toEqual([0, 1, 0]);
  expect(breaker(shaky)).toEqual([1, 0, 0]);

  // The slow step ran in the first attempt and in the third; the second, after a timeout, went on behind it.
  const steps = (suffix: string) => now(`maestro_step_duration_seconds_${suffix}`) ?? Number.NaN;
  expect(steps("count")).toBe(Number(view["steps"]) + Number(stopped["steps"]));
  expect(steps("count") - steps('bucket{le="0.1"}')).toBeGreaterThanOrEqual(2);
  expect(steps('bucket{le="+Inf"}')).toBe(steps("count"));
  expect(steps("sum")).toBeGreaterThanOrEqual((2 * (slowMs - 5)) / 1_000);
  expect(steps("sum")).toBeLessThan(seconds);

  const commits = (of: typeof now, suffix: string) =>
    of(`maestro_journal_commit_seconds_${suffix}`) ?? Number.NaN;
  expect(commits(now, "count")).toBeGreaterThan(steps("count"));
  const late = (of: typeof now) => commits(of, "count") - commits(of, 'bucket{le="0.25"}');
  // Another process holds the database, so a commit waits for it, and the metric shows the wait.
  const other = new DatabaseSync(join(server.stateDir, "maestro.db"), { timeout: 5_000 });
  other.exec("BEGIN IMMEDIATE");
  const held = start(server, { team: "down" });
  await pause(lockMs);
  other.exec("COMMIT");
  other.close();
  await held;
  const after = await scrape(url);
  expect(late(after)).toBeGreaterThan(late(now));
  expect(commits(after, "sum") - commits(now, "sum")).toBeGreaterThanOrEqual(lockMs / 2 / 1_000);
});
