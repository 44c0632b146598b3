import type { Amount, BudgetUnit } from "../domain/budget.ts";
import type { BudgetAlert } from "../store/reports.ts";
import type { BudgetStatus } from "./budget-status.ts";

/** The projected total if the remaining work costs what it usually does; undefined without history. */
export type Expected = (status: BudgetStatus) => Amount | undefined;

/** A warning is raised when this share of a budget is used. */
const thresholdPercent = 80;

/** The warnings that the totals require. The store remembers which were raised. */
export function decideAlerts(
  statuses: readonly BudgetStatus[],
  expected: Expected = () => undefined,
): BudgetAlert[] {
  return statuses.flatMap((status) => {
    const { level, name, budget, used } = status;
    const forecast = expected(status);
    return (["tokens", "usd"] as const).flatMap((unit): BudgetAlert[] => {
      const limit = unit === "tokens" ? budget.tokens : budget.microUsd;
      const usedInUnit = inUnit(used, unit);
      // A call without a known price cannot be compared with a dollar limit. Reserving refuses it.
      if (limit === undefined || limit === 0 || usedInUnit === null) return [];
      const alert = { level, name, unit, limit, used: usedInUnit };
      const expectedInUnit = forecast === undefined ? null : inUnit(forecast, unit);
      const alerts: BudgetAlert[] = [];
      if (usedInUnit * 100 >= limit * thresholdPercent)
        alerts.push({ ...alert, kind: "threshold", expected: null });
      // Once the budget is used up, a forecast adds nothing.
      if (expectedInUnit !== null && expectedInUnit > limit && usedInUnit < limit)
        alerts.push({ ...alert, kind: "forecast", expected: expectedInUnit });
      return alerts;
    });
  });
}

function inUnit({ tokens, microUsd }: Amount, unit: BudgetUnit): number | null {
  return unit === "tokens" ? tokens : microUsd;
}
