import type { SessionView } from "../../index.ts";
import type { BudgetView } from "../schemas/session.ts";

/** As `show` has it, and flat, as a page shows it. */
export function budgetView(budget: SessionView["budgets"][number]): BudgetView {
  const { level, name, limit, used, reserved } = budget;
  return {
    ...budget,
    phase: level === "phase" ? name : null,
    persona: level === "persona" ? name : null,
    limitUsd: limit.usd,
    usedUsd: used.usd,
    reservedUsd: reserved.usd ?? 0,
    limitTokens: limit.tokens,
    usedTokens: used.tokens,
    reservedTokens: reserved.tokens,
    forecastUsd: null,
  };
}
