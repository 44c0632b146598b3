import { microsToUsd } from "./budget.ts";
import type { BudgetAlert } from "./budget-alert.ts";

/** One line for logs, screens and receivers. */
export function alertText({ kind, level, name, unit, limit, used, expected }: BudgetAlert): string {
  const amount = (value: number): string =>
    unit === "usd" ? `$${microsToUsd(value).toFixed(2)}` : `${value.toLocaleString("en-US")} tokens`;
  const whose = `budget of ${level === "session" ? "the session" : `${level} ${name}`}`;
  if (kind === "threshold") return `${whose}: ${amount(used)} of ${amount(limit)} are gone`;
  return `${whose} will not be enough: about ${amount(expected ?? 0)} of ${amount(limit)}`;
}
