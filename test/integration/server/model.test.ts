import { expect, test, vi } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import type { StepBlock } from "../../../src/server/schemas/inside.ts";
import type { SessionPageView } from "../../../src/server/schemas/session.ts";
import { isDone, SseReader } from "./sse-reader.ts";
import { start, startServer, until } from "./support.ts";

/** A model that says of itself that it is simulated: its calls, tools and files are recorded like any other's. */
const simulatedTeam = defineTeam("simulated-team", {
  model: "simulated",
  phases: [
    phase("design", {
      personas: [
        persona("writer", {
          instructions: "Write it down.",
          contract: { deliverables: [{ name: "notes", files: ["docs/notes.md"] }] },
        }),
      ],
    }),
  ],
});

test("streams a model's text live and its steps with text, tools and edits", async () => {
  const server = await startServer({ teams: [simulatedTeam] });
  const { id } = await start(server, { team: "simulated-team", brief: "notes" });
  const reader = await SseReader.of(
    await server.request(`/v1/sessions/${id}/events?text=${encodeURIComponent("design/writer")}`),
  );
  server.drive();
  await reader.until(isDone);
  await reader.cancel();
  const live = (name: string) =>
    reader.events.filter(({ event }) => event === name).map(({ data }) => JSON.parse(data) as never);
  const blocks = live("step").map(({ block }: { block: StepBlock }) => block);
  expect(blocks.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["text", "edit"]));
  expect(blocks.find(({ kind }) => kind === "edit")).toMatchObject({
    tool: "write_file",
    path: "docs/notes.md",
    removedLines: 0,
  });
  const { steps } = await server.get<{ steps: StepBlock[] }>(
    `/v1/sessions/${id}/phases/design/personas/writer/steps`,
  );
  expect(steps).toEqual(blocks);

  const view = await until(server, id, "completed");
  expect(view).toMatchObject({ simulated: true, model: "simulated" });
  expect(view.usage.calls).toBeGreaterThan(0);
  const writer = view.phases[0]?.personas[0];
  expect(writer?.usage.inputTokens).toBeGreaterThan(0);
  expect(writer?.attempts[0]?.modelSteps.length).toBe(view.usage.calls);
  expect(view.phases[0]?.gate).toMatchObject({ verdict: "passed", score: 1 });
});

test("money is listed call by call, reported by model, and counted for Prometheus", async () => {
  const server = await startServer({ teams: [simulatedTeam] });
  server.drive();
  const { id } = await start(server, { team: "simulated-team", brief: "notes" });
  const view = await until(server, id, "completed");
  const money = (await (
    await server.request(`/v1/sessions/${id}/events?show=money`, { headers: { accept: "application/json" } })
  ).json()) as { entries: { kind: string; inputTokens: number; seq: number }[]; total: number };
  expect(money.total).toBe(view.usage.calls);
  expect(money.entries.every(({ kind }) => kind === "budget.settled")).toBe(true);
  expect(money.entries.reduce((sum, { inputTokens }) => sum + inputTokens, 0)).toBe(view.usage.inputTokens);
  const usage = await server.get<{ rows: { name: string; calls: number }[]; series: { name: string }[] }>(
    "/v1/usage?by=model",
  );
  expect(usage.rows).toMatchObject([{ name: "simulated", calls: view.usage.calls }]);
  expect(usage.series).toMatchObject([{ name: "simulated" }]);
  const { sessions } = await server.get<{ sessions: SessionPageView[] }>("/v1/sessions");
  expect(sessions[0]?.usage).toEqual(view.usage);
  const metrics = await (await server.request("/metrics")).text();
  expect(metrics).toContain(`maestro_tokens_total{model="simulated",kind="input"} ${view.usage.inputTokens}`);
  expect(metrics).toContain(`maestro_calls_total{model="simulated",outcome="settled"} ${view.usage.calls}`);
  expect(metrics).toMatch(/maestro_step_duration_seconds_count [1-9]/);
  expect(metrics).toMatch(/maestro_journal_commit_seconds_count [1-9]/);
});

test("sends live text only to followers of the persona, without ids, and never again after a reconnect", async () => {
  const server = await startServer({ teams: [simulatedTeam] });
  const { id } = await start(server, { team: "simulated-team", brief: "notes" });
  const follow = async (query: string) =>
    SseReader.of(await server.request(`/v1/sessions/${id}/events${query}`));
  const [one, other, none] = [
    await follow("?text=writer"),
    await follow("?text=design/somebody"),
    await follow(""),
  ];
  server.drive();
  await Promise.all([one.until(isDone), other.until(isDone), none.until(isDone)]);
  await vi.waitUntil(() => one.events.some(({ event }) => event === "step"), { timeout: 60_000 });
  const live = one.events.filter(({ event }) => event === "text" || event === "step");
  expect(live.filter(({ id }) => id !== undefined)).toEqual([]);
  for (const reader of [other, none])
    expect(reader.events.filter(({ event }) => event === "text" || event === "step")).toEqual([]);
  expect(other.ids("entry")).toEqual(one.ids("entry"));
  await Promise.all([one.cancel(), other.cancel(), none.cancel()]);
});
