import type { UsageReport } from "../api/types.ts";

export type UsageUnit = "usd" | "tokens";

export interface Stack {
  /** Bucket starts in seconds, as uPlot requires. */
  readonly times: readonly number[];
  /** Largest first. `values` are this name's own; `tops` include all layers below it. */
  readonly layers: readonly {
    readonly name: string;
    readonly values: readonly number[];
    readonly tops: readonly number[];
  }[];
}

const mostLayers = 8;

/** The points of a report as stacked layers. Small names are combined. */
export function stackSeries({ series }: Pick<UsageReport, "series">, unit: UsageUnit): Stack {
  const value = (point: UsageReport["series"][number]) =>
    unit === "usd" ? (point.costUsd ?? 0) : point.tokens;
  const times = [...new Set(series.map(({ at }) => Date.parse(at) / 1000))].sort((a, b) => a - b);
  const indexOf = new Map(times.map((time, index) => [time, index]));
  const sums = new Map<string, number>();
  for (const point of series) sums.set(point.name, (sums.get(point.name) ?? 0) + value(point));
  const ranked = [...sums].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const kept = ranked.length <= mostLayers ? ranked : [...ranked.slice(0, mostLayers - 1), "others"];
  const rows = new Map(kept.map((name) => [name, times.map(() => 0)]));
  for (const point of series) {
    const row = rows.get(point.name) ?? rows.get("others");
    const index = indexOf.get(Date.parse(point.at) / 1000);
    if (row !== undefined && index !== undefined) row[index] = (row[index] ?? 0) + value(point);
  }
  const below = times.map(() => 0);
  const layers = kept.map((name) => {
    const values = rows.get(name) ?? [];
    const tops = values.map((amount, index) => {
      below[index] = (below[index] ?? 0) + amount;
      return below[index] ?? 0;
    });
    return { name, values, tops };
  });
  return { times, layers };
}
