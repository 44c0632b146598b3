import type { Amount, BudgetLevelName, Ledger } from "../../domain/budget.ts";
import {
  type CallEnding,
  type CallPlace,
  type CallStatus,
  nameAt,
  type ReservationId,
} from "../../domain/ledger.ts";
import { columnOf, forEachCount, type TokenUsage, tokenCounts } from "../../domain/usage.ts";
import type { LedgerCall } from "../reports.ts";

/** A row of the ledger as a database gives it. */
export interface LedgerRow extends Readonly<Record<keyof TokenUsage, number | null>> {
  readonly number: number;
  readonly session: number;
  readonly epoch: number;
  readonly phase: string;
  readonly persona: string;
  readonly round: number;
  readonly attempt: number;
  readonly started: number;
  readonly step: number | null;
  readonly model: string;
  readonly day: string;
  readonly at: number;
  readonly endedAt: number | null;
  readonly askedTokens: number;
  readonly askedMicroUsd: number | null;
  readonly status: CallStatus;
  readonly failed: number;
  readonly costMicroUsd: number | null;
  readonly prices: string;
}

export const ledgerColumns = `number, session, epoch, phase, persona, round, attempt, started, step, model, day, at,
  ended_at AS "endedAt", asked_tokens AS "askedTokens", asked_micro_usd AS "askedMicroUsd", status, failed,
  ${tokenCounts.map((name) => `${columnOf(name)} AS "${name}"`).join(", ")}, cost_micro_usd AS "costMicroUsd", prices`;

export function askedOf({ askedTokens, askedMicroUsd }: LedgerRow): Amount {
  return { tokens: askedTokens, microUsd: askedMicroUsd };
}

/** Undefined while the call is open. */
export function endingOfRow(row: LedgerRow): CallEnding | undefined {
  const { status, failed, costMicroUsd } = row;
  if (status === "open") return undefined;
  return { status, failed: failed === 1, usage: usageOf(row), costMicroUsd };
}

export function toLedgerCall(row: LedgerRow): LedgerCall {
  const { number, phase, persona, round, attempt, started, step, model, at, epoch, endedAt, prices } = row;
  const call = {
    reservation: String(number) as ReservationId,
    phase,
    persona,
    round,
    attempt,
    started,
    step,
    model,
    at,
    epoch,
    asked: askedOf(row),
    prices: prices === "" ? null : prices,
  };
  const ending = endingOfRow(row);
  return ending === undefined ? { ...call, status: "open" } : { ...call, ...ending, endedAt: endedAt ?? at };
}

/** A row of budget_totals. */
export interface TotalsRow {
  readonly level: BudgetLevelName;
  readonly name: string;
  readonly usedTokens: number;
  readonly usedMicroUsd: number;
  readonly usedUnpriced: number;
  readonly reservedTokens: number;
  readonly reservedMicroUsd: number;
  readonly reservedUnpriced: number;
}

export const totalsColumns = `level, name, used_tokens AS "usedTokens", used_micro_usd AS "usedMicroUsd",
  used_unpriced AS "usedUnpriced", reserved_tokens AS "reservedTokens", reserved_micro_usd AS "reservedMicroUsd",
  reserved_unpriced AS "reservedUnpriced"`;

export function toLedger(row: TotalsRow): Ledger {
  return {
    used: { tokens: row.usedTokens, microUsd: row.usedUnpriced > 0 ? null : row.usedMicroUsd },
    reserved: {
      tokens: row.reservedTokens,
      microUsd: row.reservedUnpriced > 0 ? null : row.reservedMicroUsd,
    },
  };
}

/** The key of a total. A session's own total has no name beside the number, and a day's has no session. */
export function totalsKey(
  session: number,
  level: BudgetLevelName,
  place: CallPlace,
): [number, string, string] {
  if (level === "day") return [0, level, place.day];
  return [session, level, level === "session" ? "" : nameAt(level, place)];
}

/** Tokens, known micro-dollars, and the number of amounts without a known price: the columns of a total. */
export function totalsValues({ tokens, microUsd }: Amount): [number, number, number] {
  return [tokens, microUsd ?? 0, microUsd === null ? 1 : 0];
}

function usageOf(row: LedgerRow): TokenUsage | null {
  if (row.inputTokens === null || row.outputTokens === null) return null;
  return forEachCount((name) => row[name] ?? 0);
}
