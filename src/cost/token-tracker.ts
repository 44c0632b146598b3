import type { SessionId } from "../domain/ids.ts";
import type { BudgetAlert, LedgerStore, LevelTotals } from "../state/ledger-store.ts";
import { decideAlerts, type Expected } from "./alerts.ts";
import { type BudgetStatus, budgetStatuses, type NamedBudget } from "./budget-status.ts";

/** Alerts that need not be thought of again; a server that has forgotten the oldest asks the store once more. */
const mostKnown = 10_000;

/** Keeps an eye on budgets: what is used of each, and who has to be warned. */
export class TokenTracker {
  readonly #ledger: Pick<LedgerStore, "totals">;
  /** Raised by this process, or found raised: spares a commit after each call. */
  readonly #known = new Set<string>();

  constructor(ledger: Pick<LedgerStore, "totals">) {
    this.#ledger = ledger;
  }

  async statuses(id: SessionId, budgets: readonly NamedBudget[]): Promise<readonly BudgetStatus[]> {
    return budgets.length === 0 ? [] : budgetStatuses(await this.#ledger.totals(id), budgets);
  }

  /** To be called after a settlement; `raise` records those that nobody has raised, in any process, ever. */
  async warn(
    id: SessionId,
    budgets: readonly NamedBudget[],
    raise: (alerts: readonly BudgetAlert[]) => Promise<unknown>,
    expected?: (totals: readonly LevelTotals[]) => Expected,
  ): Promise<void> {
    if (budgets.length === 0) return;
    const totals = await this.#ledger.totals(id);
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
