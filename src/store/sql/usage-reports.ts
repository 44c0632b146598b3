import type { Amount, BudgetLevelName, BudgetUnit } from "../../domain/budget.ts";
import type { Clock } from "../../domain/clock.ts";
import type { SessionId } from "../../domain/ids.ts";
import { type ReservationId, utcDay } from "../../domain/ledger.ts";
import type { SessionUsage } from "../../journal/journal.ts";
import type {
  BudgetAlert,
  LedgerCall,
  LevelTotals,
  RaisedAlert,
  RunSample,
  SessionInside,
  UsageQuery,
} from "../reports.ts";
import {
  type LedgerRow,
  ledgerColumns,
  type TotalsRow,
  toLedger,
  toLedgerCall,
  totalsColumns,
} from "./ledger-row.ts";
import type { NamedRow, SqlQueries } from "./queries.ts";
import { UsageReader } from "./usage-reader.ts";

const pageRows = 1_000;

const callsOfSession = `SELECT ${ledgerColumns} FROM ledger WHERE session = ? AND number > ? ORDER BY number LIMIT ?`;
const totalsOfSession = `SELECT ${totalsColumns} FROM budget_totals WHERE session = ?
       UNION ALL SELECT ${totalsColumns} FROM budget_totals WHERE session = 0 AND level = 'day' AND name = ?`;
const alertsOfSession = `SELECT level, name, kind, unit, budget, used, expected, at FROM budget_alerts
       WHERE session = ? OR (session = 0 AND level = 'day' AND name = ?) ORDER BY at, level, name, kind, unit`;
const newestAlerts = `SELECT a.level, a.name, a.kind, a.unit, a.budget, a.used, a.expected, a.at, s.id
       FROM budget_alerts a LEFT JOIN sessions s ON s.number = a.session ORDER BY a.at DESC LIMIT ?`;
/** An unknown amount counts as reserved. */
const costsByAttempt = `SELECT started, sum(coalesce(input_tokens + output_tokens, asked_tokens)) AS tokens,
         sum(coalesce(cost_micro_usd, asked_micro_usd, 0)) AS "microUsd",
         count(*) FILTER (WHERE cost_micro_usd IS NULL AND asked_micro_usd IS NULL) AS unpriced
       FROM ledger WHERE session = ? AND status != 'open' GROUP BY started`;

/** Reads of calls, totals, alerts and usage. */
export class UsageReports {
  readonly #queries: SqlQueries;
  readonly #clock: Clock;
  readonly #number: (id: SessionId) => number | Promise<number>;
  readonly #usage: UsageReader;

  constructor(queries: SqlQueries, clock: Clock, number: (id: SessionId) => number | Promise<number>) {
    this.#queries = queries;
    this.#clock = clock;
    this.#number = number;
    this.#usage = new UsageReader(queries);
  }

  async usageInside(id: SessionId): Promise<SessionInside> {
    const session = await this.#number(id);
    const costs = (await this.#queries.allNamed(costsByAttempt, session)).map(
      ({ started, tokens, microUsd, unpriced }): [number, Amount] => [
        Number(started),
        { tokens: Number(tokens), microUsd: unpriced === 0 ? Number(microUsd) : null },
      ],
    );
    return { places: await this.#usage.byPlace(session), attempts: new Map(costs) };
  }

  async series({ by, ...filter }: UsageQuery) {
    return this.#usage.series(by, filter);
  }

  async alerts(id: SessionId): Promise<readonly (BudgetAlert & { readonly at: number })[]> {
    const today = utcDay(this.#clock.now());
    return (await this.#queries.allNamed(alertsOfSession, await this.#number(id), today)).map(toAlert);
  }

  async recentAlerts(limit: number): Promise<readonly RaisedAlert[]> {
    const rows = await this.#queries.allNamed(newestAlerts, limit);
    return rows.map((row) => ({ ...toAlert(row), session: row["id"] as SessionId | null }));
  }

  async totals(id: SessionId): Promise<readonly LevelTotals[]> {
    const today = utcDay(this.#clock.now());
    const rows = await this.#queries.allNamed(totalsOfSession, await this.#number(id), today);
    return (rows as unknown as TotalsRow[]).map((row) => ({
      level: row.level,
      name: row.level === "session" ? id : row.name,
      ...toLedger(row),
    }));
  }

  async calls(
    id: SessionId,
    { after, limit = pageRows }: { readonly after?: ReservationId; readonly limit?: number } = {},
  ): Promise<readonly LedgerCall[]> {
    const rows = await this.#queries.allNamed(
      callsOfSession,
      await this.#number(id),
      Number(after ?? 0),
      Math.min(limit, pageRows),
    );
    return (rows as unknown as LedgerRow[]).map(toLedgerCall);
  }

  async usage({ by, ...filter }: UsageQuery) {
    return { total: await this.#usage.total(filter), groups: await this.#usage.groups(by, filter) };
  }

  async snapshot(id: SessionId): Promise<readonly SessionUsage[]> {
    return this.#usage.snapshot(await this.#number(id));
  }

  async reused(id: SessionId): Promise<readonly RunSample[]> {
    return this.#usage.reused(await this.#number(id));
  }

  async history(team: string, also?: SessionId, at?: number): Promise<readonly RunSample[]> {
    const number = also === undefined ? 0 : await this.#number(also);
    return this.#usage.history(team, number, at ?? Number.MAX_SAFE_INTEGER);
  }
}

function toAlert(row: NamedRow): BudgetAlert & { readonly at: number } {
  return {
    kind: row["kind"] as BudgetAlert["kind"],
    level: row["level"] as BudgetLevelName,
    name: row["name"] as string,
    unit: row["unit"] as BudgetUnit,
    limit: row["budget"] as number,
    used: row["used"] as number,
    expected: row["expected"] as number | null,
    at: row["at"] as number,
  };
}
