import type { Maestro } from "../../api/open.ts";
import type { Scheduler } from "../../api/scheduler.ts";
import type { Metric, Sample } from "./exposition.ts";

const breakerStates = ["closed", "open", "half-open"] as const;

/** Gauges of the state directory, across all processes that use it. */
export async function storeMetrics(maestro: Maestro, scheduler: Scheduler): Promise<Metric[]> {
  const [{ byStatus, held }, queued, breakers, usage] = await Promise.all([
    maestro.count(),
    maestro.queued(),
    maestro.breakers(),
    maestro.usage({ by: "model" }),
  ]);
  const { rows, total } = usage;
  const counter = (name: string, help: string, samples: readonly Sample[]): Metric => ({
    name,
    help,
    type: "counter",
    samples,
  });
  const gauge = (name: string, help: string, ...samples: readonly Sample[]): Metric => ({
    name,
    help,
    type: "gauge",
    samples,
  });
  const sessions = Object.entries(byStatus).map(([status, value]) => ({ labels: { status }, value }));
  const tokens = rows.flatMap(({ name: model, ...row }): Sample[] => [
    // Each token is counted under one kind, so that the kinds add up to the usage.
    { labels: { model, kind: "input" }, value: row.inputTokens - row.cachedInputTokens },
    { labels: { model, kind: "cached_input" }, value: row.cachedInputTokens },
    { labels: { model, kind: "output" }, value: row.outputTokens - row.reasoningTokens },
    { labels: { model, kind: "reasoning" }, value: row.reasoningTokens },
  ]);
  const estimated = rows.map(({ name, estimatedTokens }) => ({
    labels: { model: name },
    value: estimatedTokens,
  }));
  const costs = rows.map(({ name, knownCostUsd }) => ({ labels: { model: name }, value: knownCostUsd }));
  const calls = rows.flatMap(({ name: model, calls, failedCalls }) => [
    { labels: { model, outcome: "settled" }, value: calls - failedCalls },
    { labels: { model, outcome: "failed" }, value: failedCalls },
  ]);
  const states = breakers.flatMap(({ dependency, record }) =>
    breakerStates.map((state) => ({
      labels: { dependency, state },
      value: record.state.kind === state ? 1 : 0,
    })),
  );
  return [
    gauge("maestro_sessions", "Sessions by status.", ...sessions),
    gauge("maestro_sessions_held", "Running sessions some persona of which waits.", { value: held }),
    gauge("maestro_queue_waiting", "Sessions that wait for a place.", { value: queued.length }),
    gauge("maestro_queue_places", "Sessions that are driven at once at most.", { value: scheduler.places }),
    gauge("maestro_queue_running", "Sessions that this process drives.", { value: scheduler.inUse }),
    counter("maestro_tokens_total", "Tokens that providers reported, each under one kind.", tokens),
    counter("maestro_estimated_tokens_total", "Tokens of calls that reported none, as estimated.", estimated),
    counter(
      "maestro_cost_usd_total",
      "Dollars spent, of calls whose price is known; those of the model simulated are invented.",
      costs,
    ),
    counter("maestro_calls_total", "Model calls that ended.", calls),
    counter("maestro_saved_tokens_total", "Tokens that were not sent or generated again.", [
      { value: total.savedTokens },
    ]),
    gauge("maestro_breaker_state", "1 for the state that a dependency's breaker is in.", ...states),
  ];
}
