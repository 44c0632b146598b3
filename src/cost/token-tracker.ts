import type { SessionId } from "../domain/ids.ts";
import type { Lease } from "../state/lease.ts";
import type { BudgetAlert, LedgerStore } from "../state/ledger-store.ts";
import { decideAlerts, type Expected } from "./alerts.ts";
import { type BudgetStatus, budgetStatuses, type NamedBudget } from "./budget-status.ts";

/** Keeps an eye on budgets: what is used of each, and who has to be warned. */
export class TokenTracker {
  readonly #ledger: Pick<LedgerStore, "totals" | "raiseAlerts">;
  /** Raised by this process, or found raised: spares a commit after each call. */
  readonly #known = new Set<string>();

  constructor(ledger: Pick<LedgerStore, "totals" | "raiseAlerts">) {
    this.#ledger = ledger;
  }

  async statuses(id: SessionId, budgets: readonly NamedBudget[]): Promise<readonly BudgetStatus[]> {
    return budgets.length === 0 ? [] : budgetStatuses(await this.#ledger.totals(id), budgets);
  }

  /** To be called after a settlement: the alerts that nobody has raised yet, in any process, ever. */
  async newAlerts(
    lease: Lease,
    budgets: readonly NamedBudget[],
    expected?: Expected,
  ): Promise<readonly BudgetAlert[]> {
    const statuses = await this.statuses(lease.sessionId, budgets);
    const due = decideAlerts(statuses, expected).filter((alert) => !this.#known.has(keyOf(lease, alert)));
    if (due.length === 0) return [];
    const raised = await this.#ledger.raiseAlerts(lease, due);
    for (const alert of due) this.#known.add(keyOf(lease, alert));
    return raised;
  }
}

function keyOf({ sessionId }: Lease, { kind, level, name, unit, limit }: BudgetAlert): string {
  return [level === "day" ? "" : sessionId, kind, level, name, unit, limit].join(" ");
}
