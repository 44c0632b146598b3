import type { BudgetLevelName, BudgetUnit } from "./budget.ts";

/** Four fifths of a budget are gone, or it will not be enough; said once for each limit. */
export interface BudgetAlert {
  readonly kind: "threshold" | "forecast";
  readonly level: BudgetLevelName;
  readonly name: string;
  /** `limit`, `used` and `expected` are in this; "usd" means micro-dollars. */
  readonly unit: BudgetUnit;
  readonly limit: number;
  readonly used: number;
  /** What it will come to by the end; only a forecast knows. */
  readonly expected: number | null;
}
