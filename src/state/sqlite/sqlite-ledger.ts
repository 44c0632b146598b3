import {
  type Amount,
  type BudgetLevelName,
  type BudgetUnit,
  decideReservation,
  noAmount,
} from "../../domain/budget.ts";
import type { Clock } from "../../domain/clock.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { RecordedRow } from "../../domain/journal.ts";
import { encodeEntry } from "../../domain/journal-codec.ts";
import { checkAsked, utcDay } from "../../domain/ledger.ts";
import type { SessionUsage } from "../../domain/session-usage.ts";
import type { Lease } from "../lease.ts";
import type {
  BudgetAlert,
  LedgerCall,
  LedgerStore,
  LevelTotals,
  RaisedAlert,
  ReservationAnswer,
  ReservationRequest,
  RunSample,
  UsageQuery,
} from "../ledger-store.ts";
import type { LedgerCommand, Submit, Success } from "./command.ts";
import {
  type LedgerRow,
  ledgerColumns,
  type TotalsRow,
  toLedger,
  toLedgerCall,
  totalsColumns,
} from "./ledger-row.ts";
import { lostTo } from "./lost-lease.ts";
import type { NamedRow, Queries } from "./queries.ts";
import { UsageReader } from "./usage-reader.ts";
import { WrittenRow } from "./written-row.ts";

const pageRows = 1_000;

/** What the ledger must know of the store it belongs to. */
export interface LedgerOwner {
  readonly owner: string;
  readonly numberOf: (id: SessionId) => number;
  /** Whether somebody alive drives the session. */
  readonly isDriven: (session: number) => boolean;
}

const callsOfSession = `SELECT ${ledgerColumns} FROM ledger WHERE session = ? AND number > ? ORDER BY number LIMIT ?`;
const openReservations = `SELECT DISTINCT g.session, l.epoch, l.owner FROM ledger g JOIN leases l ON l.session = g.session
       WHERE g.status = 'open'`;
const totalsOfSession = `SELECT ${totalsColumns} FROM budget_totals WHERE session = ?
       UNION ALL SELECT ${totalsColumns} FROM budget_totals WHERE session = 0 AND level = 'day' AND name = ?`;
const alertsOfSession = `SELECT level, name, kind, unit, budget, used, expected, at FROM budget_alerts
       WHERE session = ? OR (session = 0 AND level = 'day' AND name = ?) ORDER BY at, level, name, kind, unit`;
const newestAlerts = `SELECT a.level, a.name, a.kind, a.unit, a.budget, a.used, a.expected, a.at, s.id
       FROM budget_alerts a LEFT JOIN sessions s ON s.number = a.session ORDER BY a.at DESC LIMIT ?`;
/** What is not known counts as it was reserved. */
const costsByAttempt = `SELECT started, sum(coalesce(input_tokens + output_tokens, asked_tokens)) AS tokens,
         sum(coalesce(cost_micro_usd, asked_micro_usd, 0)) AS microUsd,
         sum(cost_micro_usd IS NULL AND asked_micro_usd IS NULL) AS unpriced
       FROM ledger WHERE session = ? AND status != 'open' GROUP BY started`;

export class SqliteLedger implements LedgerStore {
  readonly #queries: Queries;
  readonly #submit: Submit;
  readonly #clock: Clock;
  readonly #of: LedgerOwner;
  readonly #usage: UsageReader;

  constructor(queries: Queries, submit: Submit, clock: Clock, of: LedgerOwner) {
    this.#submit = submit;
    this.#clock = clock;
    this.#of = of;
    this.#queries = queries;
    this.#usage = new UsageReader(queries);
  }

  async usageOf(ids: readonly SessionId[]) {
    return this.#usage.ofSessions(ids);
  }

  async usageByPlace(id: SessionId) {
    return this.#usage.byPlace(this.#of.numberOf(id));
  }

  async series({ by, session, since }: UsageQuery) {
    const filter = { session: session && this.#of.numberOf(session), since };
    return this.#usage.series(by, filter);
  }

  async costByAttempt(id: SessionId): Promise<ReadonlyMap<number, Amount>> {
    const rows = this.#queries.allNamed(costsByAttempt, this.#of.numberOf(id));
    return new Map(
      rows.map(({ started, tokens, microUsd, unpriced }) => [
        Number(started),
        { tokens: Number(tokens), microUsd: unpriced === 0 ? Number(microUsd) : null },
      ]),
    );
  }

  async reserve(lease: Lease, request: ReservationRequest): Promise<ReservationAnswer> {
    checkRequest(request);
    const answer = await this.#reserve(lease, request);
    // Within its own session only this driver reserves; over the day, those who hold something up may be dead.
    if (answer.kind !== "wait" || answer.level !== "day" || !(await this.#estimateAbandoned())) return answer;
    return this.#reserve(lease, request);
  }

  async release(lease: Lease, reservation: number): Promise<void> {
    await this.#prove(lease, { verb: "release-reservation", reservation });
  }

  async raiseAlerts(lease: Lease, alerts: readonly BudgetAlert[]): Promise<readonly RecordedRow[]> {
    const reply = await this.#prove(lease, { verb: "raise-alerts", alerts });
    if (reply.kind !== "alerted") return [];
    return reply.rows.map(
      ({ placed, alert }) =>
        new WrittenRow(encodeEntry({ kind: "budget.alerted", alert }), placed, lease.epoch),
    );
  }

  async alerts(id: SessionId): Promise<readonly (BudgetAlert & { readonly at: number })[]> {
    const today = utcDay(this.#clock.now());
    return this.#queries.allNamed(alertsOfSession, this.#of.numberOf(id), today).map(toAlert);
  }

  async recentAlerts(limit: number): Promise<readonly RaisedAlert[]> {
    return this.#queries
      .allNamed(newestAlerts, limit)
      .map((row) => ({ ...toAlert(row), session: row["id"] as SessionId | null }));
  }

  async totals(id: SessionId): Promise<readonly LevelTotals[]> {
    const today = utcDay(this.#clock.now());
    const rows = this.#queries.allNamed(totalsOfSession, this.#of.numberOf(id), today);
    return (rows as unknown as TotalsRow[]).map((row) => ({
      level: row.level,
      name: row.level === "session" ? id : row.name,
      ...toLedger(row),
    }));
  }

  async calls(id: SessionId, { after = 0, limit = pageRows } = {}): Promise<readonly LedgerCall[]> {
    const rows = this.#queries.allNamed(
      callsOfSession,
      this.#of.numberOf(id),
      after,
      Math.min(limit, pageRows),
    );
    return (rows as unknown as LedgerRow[]).map(toLedgerCall);
  }

  async usage({ by, session, since, most }: UsageQuery) {
    const filter = { session: session && this.#of.numberOf(session), since, most };
    return { total: this.#usage.total(filter), groups: this.#usage.groups(by, filter) };
  }

  async snapshot(id: SessionId): Promise<readonly SessionUsage[]> {
    return this.#usage.snapshot(this.#of.numberOf(id));
  }

  async reused(id: SessionId): Promise<readonly RunSample[]> {
    return this.#usage.reused(this.#of.numberOf(id));
  }

  async history(team: string, also?: SessionId, at?: number): Promise<readonly RunSample[]> {
    const number = also === undefined ? 0 : this.#of.numberOf(also);
    return this.#usage.history(team, number, at ?? Number.MAX_SAFE_INTEGER);
  }

  async #reserve(lease: Lease, request: ReservationRequest): Promise<ReservationAnswer> {
    const reply = await this.#prove(lease, { verb: "reserve", sessionId: lease.sessionId, request });
    if (reply.kind !== "reservation") throw new Error(`the writer answered ${reply.kind} to reserve`);
    return reply.answer;
  }

  /** Nobody may have to wait for a call whose driver is gone. True when there was one. */
  async #estimateAbandoned(): Promise<boolean> {
    const open = this.#queries.allNamed(openReservations) as unknown as {
      session: number;
      epoch: number;
      owner: string | null;
    }[];
    const abandoned = open.filter(({ session }) => !this.#of.isDriven(session));
    const at = this.#clock.now();
    // Refused when somebody has claimed the session in the meantime; the claim has done the same.
    await Promise.all(abandoned.map((lease) => this.#submit({ verb: "estimate", ...lease, at })));
    return abandoned.length > 0;
  }

  async #prove(lease: Lease, command: LedgerVerb): Promise<Success> {
    const { session, epoch } = lease;
    const proof = { session, epoch, owner: this.#of.owner, at: this.#clock.now() };
    const reply = await this.#submit({ ...proof, ...command });
    if (reply.kind === "refused") throw lostTo(lease, reply);
    return reply;
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

type Bare<Verb> = Verb extends unknown ? Omit<Verb, "session" | "epoch" | "owner" | "at"> : never;
type LedgerVerb = Bare<LedgerCommand>;

/** Here, where the error still has a class; behind the writer's thread it would be one of the disk. */
function checkRequest({ asked, limits }: ReservationRequest): void {
  checkAsked(asked);
  const levels = limits.map(({ level, budget }) => ({
    level,
    budget,
    ledger: { used: noAmount, reserved: noAmount },
  }));
  decideReservation(levels, asked);
}
