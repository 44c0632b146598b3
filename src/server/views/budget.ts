import { microsToUsd } from "../../domain/budget.ts";
import type { SessionView } from "../../index.ts";
import type { BudgetView } from "../schemas/session.ts";

type Budget = SessionView["budgets"][number];

/** A budget of `show`, flattened. `expected`: the forecast in micro-dollars. */
export function budgetView(budget: Budget, expected: number | null | undefined): BudgetView {
  const { level, name, limit, used, reserved } = budget;
  return {
    ...budget,
    phase: level === "phase" ? name : null,
    persona: level === "persona" ? name : null,
    limitUsd: limit.usd,
    usedUsd: used.usd,
    reservedUsd: reserved.usd,
    limitTokens: limit.tokens,
    usedTokens: used.tokens,
    reservedTokens: reserved.tokens,
    forecastUsd: expected == null ? null : microsToUsd(expected),
  };
}
