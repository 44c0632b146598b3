import { microsToUsd } from "../../domain/budget.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { UsageOptions } from "../../index.ts";
import type { Maestro } from "../../maestro.ts";
import type { UsageReportView } from "../schemas/server.ts";
import { isoTime } from "./iso-time.ts";
import { usageView } from "./usage.ts";
import { type DayLimit, usageBudgets } from "./usage-budgets.ts";

/** Lines of the chart; what is left is one more. */
const mostNames = 20;
const others = "others";
const mostAlerts = 50;

/** Tokens and money by whom or by what, day by day, and what did not have to be paid. */
export async function usageReportView(
  maestro: Maestro,
  query: UsageOptions,
  { dayLimit, now }: { readonly dayLimit: DayLimit; readonly now: number },
): Promise<UsageReportView> {
  const [report, points, budgets] = await Promise.all([
    maestro.usage(query),
    maestro.usageSeries(query),
    usageBudgets(maestro, { limit: dayLimit, now, session: query.session }),
  ]);
  const { saved } = report.total;
  const savings = [
    { by: "resume", ...saved.resume },
    { by: "reuse", ...saved.reuse },
    { by: "cache", ...saved.cache },
    { by: "patches", ...saved.patch },
  ] as const;
  return {
    total: usageView(report.total),
    rows: report.rows.map((row) => ({ name: row.name, ...usageView(row) })),
    bucket: "day",
    series: seriesOf(points, query.by),
    savings: savings.map(({ by, tokens, usd }) => ({ by, tokens, usd: usd ?? 0 })),
    // What was expected at the start is not on record.
    forecasts: [],
    budgets,
    alerts: await alertsOf(maestro, query.session),
  };
}

type Points = Awaited<ReturnType<Maestro["usageSeries"]>>;

function seriesOf(points: Points, by: UsageOptions["by"]): UsageReportView["series"] {
  const totals = new Map<string, number>();
  for (const { name, tokens } of points) {
    const known = nameOf(name, by);
    totals.set(known, (totals.get(known) ?? 0) + tokens);
  }
  const largest = [...totals].toSorted((a, b) => b[1] - a[1]).slice(0, mostNames);
  const shown = new Set(largest.map(([name]) => name));
  const sums = new Map<string, { at: string; name: string; tokens: number; costUsd: number }>();
  for (const { day, name, tokens, microUsd } of points) {
    const known = shown.has(nameOf(name, by)) ? nameOf(name, by) : others;
    const key = `${day} ${known}`;
    const sum = sums.get(key) ?? { at: `${day}T00:00:00.000Z`, name: known, tokens: 0, costUsd: 0 };
    sum.tokens += tokens;
    sum.costUsd += microsToUsd(microUsd);
    sums.set(key, sum);
  }
  return [...sums.values()];
}

/** By day there is one line: the days themselves are its points. */
const nameOf = (name: string | null, by: UsageOptions["by"]): string =>
  by === "day" ? "all" : (name ?? "(deleted)");

async function alertsOf(maestro: Maestro, session: string | undefined): Promise<UsageReportView["alerts"]> {
  const id = session === undefined ? undefined : (await maestro.find(session)).id;
  const raised = (await maestro.alerts(mostAlerts)).filter(
    (alert) => id === undefined || alert.session === id,
  );
  const ids = [...new Set(raised.flatMap(({ session }) => session ?? []))] as SessionId[];
  const keys = new Map<string, string | null>(
    (await maestro.listed(ids)).map((listing) => [listing.id, listing.key ?? null]),
  );
  return raised.map(({ at, kind, level, name, unit, limit, used, expected, session }) => {
    const show = (value: number) =>
      unit === "usd" ? `$${microsToUsd(value).toFixed(2)}` : `${value} tokens`;
    const whose = level === "session" ? "the session" : `${level} ${name}`;
    const message =
      kind === "threshold"
        ? `${whose}: ${show(used)} of ${show(limit)} are spent`
        : `${whose}: it will come to ${show(expected ?? 0)}, the limit is ${show(limit)}`;
    return {
      at: isoTime(at),
      kind: kind === "threshold" ? "budget-most" : "budget-foreseen",
      message,
      id: session,
      key: session === null ? null : (keys.get(session) ?? null),
    };
  });
}
