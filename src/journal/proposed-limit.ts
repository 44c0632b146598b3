import { type Advice, advise, nameOf } from "../domain/advice.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import type { ParkReason } from "./standing.ts";

export interface KeptBudget {
  readonly level: string;
  readonly name: string;
  readonly limit: { readonly tokens: number | null; readonly usd: number | null };
  readonly used: { readonly tokens: number; readonly usd: number | null };
  readonly overrun: boolean;
}

interface RefusedSession {
  readonly id: string;
  readonly key: string | null;
  readonly reason: ParkReason | null;
  readonly error: ErrorJson | null;
  readonly budgets: readonly KeptBudget[];
}

export interface ProposedLimit {
  readonly level: "session" | "phase" | "persona";
  /** Null for the session itself. */
  readonly name: string | null;
  readonly unit: "usd" | "tokens";
  readonly amount: number;
}

/** The details of a refused reservation. */
interface Refused {
  readonly level?: string;
  readonly name?: string;
  readonly unit?: string;
  readonly limit?: number | null;
  readonly used?: number;
  readonly asked?: number;
}

/**
 * Twice the limit, and at least enough for two calls like the refused one: with room for one, the session parks again
 * at the next. Null for the day's limit, which is set in the configuration, and for a cost without a known price, where
 * the error itself has the advice.
 */
export function proposedLimit({ reason, error, budgets }: RefusedSession): ProposedLimit | null {
  if (reason !== "budget") return null;
  const { level, name, unit, limit, used = 0, asked = 0 } = (error?.details ?? {}) as Refused;
  if (level === "day" || limit === null) return null;
  const now = budgets.find((budget) => budget.level === level && budget.name === name)?.limit;
  const target =
    (level === "phase" || level === "persona") && name !== undefined
      ? ({ level, name } as const)
      : ({ level: "session", name: null } as const);
  const least = used + 2 * asked;
  if (unit !== "usd")
    return { ...target, unit: "tokens", amount: Math.max((now?.tokens ?? 5_000) * 2, least) };
  const leastUsd = Math.ceil(least / 10_000) / 100;
  return { ...target, unit: "usd", amount: Math.max((now?.usd ?? 0.5) * 2, leastUsd) };
}

export function raiseAdvice(session: RefusedSession, { level, name, unit, amount }: ProposedLimit): Advice {
  const target = name === null ? [] : [`--${level}`, name];
  const limit = unit === "usd" ? ["--usd", amount.toFixed(2)] : ["--tokens", String(amount)];
  return advise("Raise the budget, if it is worth it", "budget", nameOf(session), ...target, ...limit);
}
