import { type BudgetLevelName, type BudgetUnit, microsToUsd } from "./budget.ts";

/** Four fifths of a budget are used, or it will not be enough. Raised once for each limit. */
export interface BudgetAlert {
  readonly kind: "threshold" | "forecast";
  readonly level: BudgetLevelName;
  readonly name: string;
  /** The unit of `limit`, `used` and `expected`. "usd" means micro-dollars. */
  readonly unit: BudgetUnit;
  readonly limit: number;
  readonly used: number;
  /** The expected total, set only by a forecast. */
  readonly expected: number | null;
}

/** One line for logs, screens and receivers. */
export function alertText({ kind, level, name, unit, limit, used, expected }: BudgetAlert): string {
  const amount = (value: number): string =>
    unit === "usd" ? `$${microsToUsd(value).toFixed(2)}` : `${value.toLocaleString("en-US")} tokens`;
  const whose = `budget of ${level === "session" ? "the session" : `${level} ${name}`}`;
  if (kind === "threshold") return `${whose}: ${amount(used)} of ${amount(limit)} are gone`;
  return `${whose} will not be enough: about ${amount(expected ?? 0)} of ${amount(limit)}`;
}
