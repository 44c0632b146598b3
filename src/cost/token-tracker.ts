import type { SessionId } from "../domain/ids.ts";
import type { BudgetAlert, LevelTotals, Reports } from "../store/reports.ts";
import { decideAlerts, type Expected } from "./alerts.ts";
import { type BudgetStatus, budgetStatuses, type NamedBudget } from "./budget-status.ts";

/** Alerts that need no further check. After forgetting the oldest, a server asks the store once more. */
const mostKnown = 10_000;

/** Watches budgets: checks their usage and raises warnings. */
export class TokenTracker {
  readonly #reports: Pick<Reports, "totals">;
  /** Alerts already raised, by this process or another. Saves a commit after each call. */
  readonly #known = new Set<string>();

  constructor(reports: Pick<Reports, "totals">) {
    this.#reports = reports;
  }

  async statuses(id: SessionId, budgets: readonly NamedBudget[]): Promise<readonly BudgetStatus[]> {
    return budgets.length === 0 ? [] : budgetStatuses(await this.#reports.totals(id), budgets);
  }

  /** Call this after a settlement. `raise` records the warnings that no process has raised before. */
  async warn(
    id: SessionId,
    budgets: readonly NamedBudget[],
    raise: (alerts: readonly BudgetAlert[]) => Promise<unknown>,
    expected?: (totals: readonly LevelTotals[]) => Expected,
  ): Promise<void> {
    if (budgets.length === 0) return;
    const totals = await this.#reports.totals(id);
    const due = decideAlerts(budgetStatuses(totals, budgets), expected?.(totals)).filter(
      (alert) => !this.#known.has(keyOf(id, alert)),
    );
    if (due.length === 0) return;
    await raise(due);
    for (const alert of due) this.#know(keyOf(id, alert));
  }

  #know(key: string): void {
    this.#known.add(key);
    const [oldest] = this.#known;
    if (this.#known.size > mostKnown && oldest !== undefined) this.#known.delete(oldest);
  }
}

function keyOf(id: SessionId, { kind, level, name, unit, limit }: BudgetAlert): string {
  return [level === "day" ? "" : id, kind, level, name, unit, limit].join(" ");
}
