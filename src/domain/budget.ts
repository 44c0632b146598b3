import { InputInvalid } from "./errors.ts";

/** Whole micro-dollars: sums of fractions drift, and a budget must not. */
export type Money = number;

/** `microUsd: null` means that the price is unknown. */
export interface Amount {
  readonly tokens: number;
  readonly microUsd: Money | null;
}

export interface Budget {
  readonly tokens?: number | undefined;
  readonly microUsd?: Money | undefined;
}

/** A person's change to a budget. Null removes the limit, and missing fields stay unchanged. */
export interface BudgetChange {
  readonly tokens?: number | null | undefined;
  readonly microUsd?: Money | null | undefined;
}

/** Whether a dollar budget refuses calls without a known price, or allows them as if they were free. */
export type UnpricedRule = "refuse" | "allow";

export interface Ledger {
  readonly used: Amount;
  readonly reserved: Amount;
}

/** Narrowest first. Personas and phases are counted within their session, a UTC day over all sessions. */
export const budgetLevels = ["persona", "phase", "session", "day"] as const;
export type BudgetLevelName = (typeof budgetLevels)[number];
export type BudgetUnit = "tokens" | "usd";

export interface BudgetLevel<Level extends string = string> {
  readonly level: Level;
  readonly budget: Budget;
  readonly ledger: Ledger;
}

/** `limit`, `used` and `asked` are in tokens, or in micro-dollars if the unit is "usd". */
export type ReservationDecision<Level extends string = string> =
  | { readonly kind: "granted" }
  | { readonly kind: "wait"; readonly level: Level }
  | {
      readonly kind: "exceeded";
      readonly level: Level;
      readonly unit: BudgetUnit;
      readonly limit: number;
      readonly used: number;
      readonly asked: number;
    }
  | { readonly kind: "unpriced"; readonly level: Level };

export const noAmount: Amount = { tokens: 0, microUsd: 0 };

export function changedBudget(budget: Budget, { tokens, microUsd }: BudgetChange = {}): Budget {
  const limits = {
    ...budget,
    ...(tokens !== undefined && { tokens }),
    ...(microUsd !== undefined && { microUsd }),
  };
  return {
    ...(limits.tokens != null && { tokens: limits.tokens }),
    ...(limits.microUsd != null && { microUsd: limits.microUsd }),
  };
}

/** All levels refuse before any level waits: it is useless to wait at one for room that another will never grant. */
export function decideReservation<Level extends string>(
  levels: readonly BudgetLevel<Level>[],
  asked: Amount,
  unpriced: UnpricedRule = "refuse",
): ReservationDecision<Level> {
  checkAmount(asked);
  const limits = levels.flatMap((level) => limitsOf(level, asked));
  for (const { level, unit, limit, used, reserved, asked } of limits) {
    const isUnpriced = used === null || reserved === null || asked === null;
    if (isUnpriced && unpriced === "refuse") return { kind: "unpriced", level };
    if ((used ?? 0) + (asked ?? 0) > limit)
      return { kind: "exceeded", level, unit, limit, used: used ?? 0, asked: asked ?? 0 };
  }
  const blocked = limits.find(
    ({ used, reserved, asked, limit }) => (used ?? 0) + (reserved ?? 0) + (asked ?? 0) > limit,
  );
  return blocked ? { kind: "wait", level: blocked.level } : { kind: "granted" };
}

/** A sum with an unknown part is unknown. */
export function add(a: Amount, b: Amount): Amount {
  const sum: Amount = {
    tokens: a.tokens + b.tokens,
    microUsd: a.microUsd === null || b.microUsd === null ? null : a.microUsd + b.microUsd,
  };
  checkAmount(sum);
  return sum;
}

export function usdToMicros(usd: number): Money {
  const micros = Math.round(usd * 1_000_000);
  checkWhole(micros, "dollars");
  return micros;
}

export const microsToUsd = (micros: Money): number => micros / 1_000_000;

interface Limit<Level extends string> {
  readonly level: Level;
  readonly unit: BudgetUnit;
  readonly limit: number;
  readonly used: number | null;
  readonly reserved: number | null;
  readonly asked: number | null;
}

function limitsOf<Level extends string>(
  { level, budget, ledger: { used, reserved } }: BudgetLevel<Level>,
  asked: Amount,
): Limit<Level>[] {
  const limits: Limit<Level>[] = [];
  if (budget.tokens !== undefined) {
    const amounts = { used: used.tokens, reserved: reserved.tokens, asked: asked.tokens };
    limits.push({ level, unit: "tokens", limit: checkWhole(budget.tokens, "a token limit"), ...amounts });
  }
  if (budget.microUsd !== undefined) {
    const amounts = { used: used.microUsd, reserved: reserved.microUsd, asked: asked.microUsd };
    limits.push({ level, unit: "usd", limit: checkWhole(budget.microUsd, "a dollar limit"), ...amounts });
  }
  checkAmount(used);
  checkAmount(reserved);
  return limits;
}

function checkAmount({ tokens, microUsd }: Amount): void {
  checkWhole(tokens, "tokens");
  if (microUsd !== null) checkWhole(microUsd, "micro-dollars");
}

/** NaN compares as "not over the limit", so only plain counts may enter a budget. */
function checkWhole(value: number, what: string): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InputInvalid(`${value} is not an amount of ${what}`, {
    advice: "Amounts are whole numbers, not negative, up to 2^53 - 1.",
    details: { value: String(value), what },
  });
}
