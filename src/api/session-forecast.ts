import type { Expected } from "../cost/alerts.ts";
import { expectedAtEnd, type Forecast, forecast } from "../cost/forecast.ts";
import { type Amount, microsToUsd } from "../domain/budget.ts";
import type { SessionState } from "../journal/session-state.ts";
import { finalStatuses } from "../journal/standing.ts";
import { runsLeft } from "../run/spending.ts";
import type { SessionRecord, Store } from "../store/store.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";

interface Range {
  readonly tokens: number;
  /** Null when unknown. */
  readonly usd: number | null;
}

/**
 * The cost of the remaining work, from past runs of the team: half of them cost at most `median`, nine in ten at
 * most `p90`.
 */
export interface SessionForecast {
  readonly median: Range;
  readonly p90: Range;
  readonly phases: readonly { readonly phase: string; readonly median: Range; readonly p90: Range }[];
  /** Personas without past runs. The sums exclude them. */
  readonly unknown: readonly string[];
}

export interface Outlook {
  readonly forecast: SessionForecast;
  readonly expected: Expected;
}

/** Null for a session that has ended. */
export async function outlookOf(state: SessionState, { reports }: Store): Promise<Outlook | null> {
  if (finalStatuses.includes(state.standing.status)) return null;
  const left = runsLeft(recordedDefinition(state.created.definition), state);
  const [history, totals] = await Promise.all([
    reports.history(state.created.team),
    reports.totals(state.id),
  ]);
  return {
    forecast: described(forecast(history, left)),
    expected: expectedAtEnd(history, left, totals),
  };
}

/** The forecast at the start of the session: based on runs that had ended by then, for the calls it has made since. */
export async function forecastAtStart(
  { id, team, createdAt }: Pick<SessionRecord, "id" | "team" | "createdAt">,
  { reports }: Store,
): Promise<SessionForecast | null> {
  const used = await reports.snapshot(id);
  const runs = new Map(
    used.map(({ phase, persona, model }) => [
      JSON.stringify([phase, persona, model]),
      { phase, persona, model },
    ]),
  );
  if (runs.size === 0) return null;
  return described(forecast(await reports.history(team, undefined, createdAt), [...runs.values()]));
}

const described = ({ median, p90, phases, unknown }: Forecast): SessionForecast => ({
  median: rangeOf(median),
  p90: rangeOf(p90),
  phases: phases.map((of) => ({ phase: of.phase, median: rangeOf(of.median), p90: rangeOf(of.p90) })),
  unknown,
});

const rangeOf = ({ tokens, microUsd }: Amount): Range => ({
  tokens,
  usd: microUsd === null ? null : microsToUsd(microUsd),
});
