import { type Amount, type Budget, type BudgetLevelName, type Ledger, noAmount } from "../domain/budget.ts";
import { type CallPlace, nameAt } from "../domain/ledger.ts";
import type { BudgetLimit } from "../store/journal.ts";
import type { LevelTotals } from "../store/reports.ts";

export interface NamedBudget {
  readonly level: BudgetLevelName;
  /** The persona, the phase, the session's id or the day. */
  readonly name: string;
  readonly budget: Budget;
}

/** A budget and its use. */
export interface BudgetStatus extends NamedBudget, Ledger {
  /** The provider billed more than was reserved, so the budget is overrun. */
  readonly overrun: boolean;
}

/** The limits of a call, each with the name of its persona, phase, session or day. */
export function namedBudgets(limits: readonly BudgetLimit[], place: CallPlace): NamedBudget[] {
  return limits.map(({ level, budget }) => ({ level, name: nameAt(level, place), budget }));
}

export function budgetStatuses(
  totals: readonly LevelTotals[],
  budgets: readonly NamedBudget[],
): BudgetStatus[] {
  return budgets.map((of) => {
    const found = totals.find(({ level, name }) => level === of.level && name === of.name);
    const { used, reserved } = found ?? { used: noAmount, reserved: noAmount };
    return { ...of, used, reserved, overrun: isOverrun(used, of.budget) };
  });
}

function isOverrun(used: Amount, { tokens = Infinity, microUsd = Infinity }: Budget): boolean {
  return used.tokens > tokens || (used.microUsd ?? 0) > microUsd;
}
