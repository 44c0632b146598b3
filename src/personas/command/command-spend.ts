import type { Budget, BudgetUnit } from "../../domain/budget.ts";
import type { Spend } from "../../domain/usage.ts";

/** An undeclared unit is unknown beforehand: a limit in that unit refuses the command. */
export function commandSpend({ tokens, microUsd }: Budget = {}): Pick<Spend<never>, "asked" | "undeclared"> {
  const undeclared: BudgetUnit[] = [];
  if (tokens === undefined) undeclared.push("tokens");
  if (microUsd === undefined) undeclared.push("usd");
  return { asked: { tokens: tokens ?? 0, microUsd: microUsd ?? null }, undeclared };
}
