import type { Maestro } from "../../api/open.ts";
import { microsToUsd } from "../../domain/budget.ts";
import { alertText } from "../../domain/budget-alert.ts";
import { JournalCorrupt } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isoTime } from "../../domain/iso-time.ts";
import type { SessionForecast, UsageOptions } from "../../index.ts";
import type { UsageReportView } from "../schemas/server.ts";
import { usageView } from "./usage.ts";
import { type DayLimit, usageBudgets } from "./usage-budgets.ts";

/** Lines of the chart. One more line sums the rest. */
const mostNames = 20;
const others = "others";
const mostAlerts = 50;
const mostForecasts = 20;
const mostFinished = 10;
const unfinished = ["queued", "running", "paused", "parked"] as const;

/** Tokens and money in groups and by day, with the savings. */
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
    savings: savings.map(({ by, tokens, usd }) => ({ by, tokens, usd })),
    forecasts: await forecastsOf(maestro, query.session),
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
  const sums = new Map<string, { at: string; name: string; tokens: number; costUsd: number | null }>();
  for (const { day, name, tokens, microUsd } of points) {
    const known = shown.has(nameOf(name, by)) ? nameOf(name, by) : others;
    const key = `${day} ${known}`;
    const sum = sums.get(key) ?? { at: `${day}T00:00:00.000Z`, name: known, tokens: 0, costUsd: 0 };
    sum.tokens += tokens;
    sum.costUsd = sum.costUsd === null || microUsd === null ? null : sum.costUsd + microsToUsd(microUsd);
    sums.set(key, sum);
  }
  return [...sums.values()];
}

/** Grouped by day there is one line, whose points are the days. */
const nameOf = (name: string | null, by: UsageOptions["by"]): string =>
  by === "day" ? "all" : (name ?? "(deleted)");

async function alertsOf(maestro: Maestro, session: string | undefined): Promise<UsageReportView["alerts"]> {
  const raised =
    session === undefined
      ? await maestro.alerts(mostAlerts)
      : await alertsOfSession(maestro, (await maestro.find(session)).id);
  const ids = [...new Set(raised.flatMap(({ session }) => session ?? []))];
  const keys = new Map<string, string | null>(
    (await maestro.listed(ids)).map((listing) => [listing.id, listing.key ?? null]),
  );
  return raised.map(({ at, session, ...alert }) => ({
    at: isoTime(at),
    kind:
      alert.kind === "forecast" ? "forecast" : alert.used >= alert.limit ? "budget-reached" : "budget-most",
    message: alertText(alert),
    id: session,
    key: session === null ? null : (keys.get(session) ?? null),
  }));
}

/** Newest first. */
async function alertsOfSession(maestro: Maestro, id: SessionId) {
  const found = (await maestro.alertsOf(id)).toReversed().slice(0, mostAlerts);
  return found.map((alert) => ({ ...alert, session: alert.level === "day" ? null : id }));
}

/** The cost of running and recently completed sessions beside their forecast. */
async function forecastsOf(maestro: Maestro, session: string | undefined): Promise<Forecasts> {
  const [open, done] = await (session === undefined
    ? Promise.all([
        maestro.list({ limit: mostForecasts, statuses: unfinished, order: "created" }),
        maestro.list({ limit: mostFinished, statuses: ["completed"], order: "status" }),
      ])
    : onlyOne(maestro, session));
  // A damaged session is reported on its own page. The report omits it.
  const found = await Promise.all(
    [
      ...open.map((listing) => openForecast(maestro, listing)),
      ...done.map((listing) => finishedForecast(maestro, listing)),
    ].map((forecast) => forecast.catch(leaveOutDamaged)),
  );
  return found.filter((forecast) => forecast !== undefined);
}

function leaveOutDamaged(error: unknown): undefined {
  if (JournalCorrupt.is(error)) return undefined;
  throw error;
}

type Forecasts = UsageReportView["forecasts"];
type Listings = Awaited<ReturnType<Maestro["list"]>>;

async function onlyOne(maestro: Maestro, session: string): Promise<readonly [Listings, Listings]> {
  const listings = await maestro.listed([(await maestro.find(session)).id]);
  return listings[0]?.status === "completed" ? [[], listings] : [listings, []];
}

/** The cost so far, and the probable cost at the end. */
async function openForecast(
  maestro: Maestro,
  { id, key, usage }: Listings[number],
): Promise<Forecasts[number] | undefined> {
  const left = rangeOf(await maestro.forecast(id));
  const spent = usage.costUsd;
  if (left === undefined || spent === null) return undefined;
  const forecast = { lowUsd: spent + left.lowUsd, highUsd: spent + left.highUsd };
  // A session without model calls has no forecast.
  if (forecast.highUsd === 0) return undefined;
  return { id, key: key ?? null, forecast, actualUsd: spent, finished: false };
}

async function finishedForecast(
  maestro: Maestro,
  { id, key, usage }: Listings[number],
): Promise<Forecasts[number] | undefined> {
  const forecast = rangeOf(await maestro.forecastAtStart(id));
  return forecast && { id, key: key ?? null, forecast, actualUsd: usage.costUsd, finished: true };
}

/** Undefined if a part could not be forecast. */
function rangeOf(forecast: SessionForecast | null): Forecasts[number]["forecast"] | undefined {
  const [lowUsd, highUsd] = [forecast?.median.usd, forecast?.p90.usd];
  if (forecast === null || forecast.unknown.length > 0 || lowUsd == null || highUsd == null) return undefined;
  return { lowUsd, highUsd };
}
