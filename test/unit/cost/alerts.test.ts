import { describe, expect, onTestFinished, test } from "vitest";
import { decideAlerts, type Expected } from "../../../src/cost/alerts.ts";
import { budgetStatuses, type NamedBudget, namedBudgets } from "../../../src/cost/budget-status.ts";
import { expectedAtEnd } from "../../../src/cost/forecast.ts";
import { TokenTracker } from "../../../src/cost/token-tracker.ts";
import { type Amount, type Budget, noAmount } from "../../../src/domain/budget.ts";
import type { BudgetAlert } from "../../../src/domain/budget-alert.ts";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import type { Transition } from "../../../src/journal/journal.ts";
import { decodeTransition } from "../../../src/journal/journal-codec.ts";
import type { Lease } from "../../../src/store/journal.ts";
import type { LevelTotals } from "../../../src/store/reports.ts";
import { SqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { amount, call, limit, took } from "../../contract/ledger-support.ts";
import { createAndClaim } from "../../contract/store-under-test.ts";

const status = (budget: Budget, used: Amount) => ({
  level: "session" as const,
  name: "s",
  budget,
  used,
  reserved: noAmount,
  overrun: false,
});
const kinds = (budget: Budget, used: Amount, expected?: Amount) =>
  decideAlerts([status(budget, used)], () => expected).map(({ kind, unit }) => `${kind} ${unit}`);

describe("an alert", () => {
  test("comes at 80 percent, not before, in each unit", () => {
    expect(kinds({ tokens: 100 }, amount(79))).toEqual([]);
    expect(kinds({ tokens: 100 }, amount(80))).toEqual(["threshold tokens"]);
    expect(kinds({ tokens: 100 }, amount(500))).toEqual(["threshold tokens"]);
    expect(kinds({ microUsd: 101 }, amount(0, 80))).toEqual([]);
    expect(kinds({ tokens: 1, microUsd: 101 }, amount(1, 81))).toEqual(["threshold tokens", "threshold usd"]);
  });

  test("counts what is used, not what is only reserved", () => {
    const reserved = { ...status({ tokens: 100 }, amount(10)), reserved: amount(90) };
    expect(decideAlerts([reserved])).toEqual([]);
  });

  test("warns of an overrun that is to be expected, while there is time", () => {
    expect(kinds({ tokens: 100 }, amount(10), amount(100))).toEqual([]);
    expect(kinds({ tokens: 100 }, amount(10), amount(101))).toEqual(["forecast tokens"]);
    expect(kinds({ tokens: 100 }, amount(85), amount(101))).toEqual(["threshold tokens", "forecast tokens"]);
    expect(kinds({ tokens: 100 }, amount(100), amount(150))).toEqual(["threshold tokens"]);
    expect(kinds({ microUsd: 100 }, amount(1, 1), amount(9, null))).toEqual([]);
  });

  test("raises no alert for unknown dollars, an empty budget, or no budget", () => {
    expect(kinds({ microUsd: 100 }, amount(500, null))).toEqual([]);
    expect(kinds({ tokens: 0 }, amount(0))).toEqual([]);
    expect(kinds({}, amount(500))).toEqual([]);
  });
});

/** The recorded warnings of this check. */
async function raisedBy(
  tracker: TokenTracker,
  { store, lease }: { readonly store: SqliteStore; readonly lease: Lease },
  budgets: readonly NamedBudget[],
  expected?: (totals: readonly LevelTotals[]) => Expected,
): Promise<readonly BudgetAlert[]> {
  let raised: readonly BudgetAlert[] = [];
  const raise = async (alerts: readonly BudgetAlert[]) => {
    const rows = await store.append(lease, [], { alerts });
    raised = rows.map((row) => (decodeTransition(row) as { alert: BudgetAlert } & Transition).alert);
  };
  await tracker.warn(lease.sessionId, budgets, raise, expected);
  return raised;
}

describe("the tracker", () => {
  async function openTracker() {
    const store = new SqliteStore({ path: ":memory:", clock: new ManualClock(), leaseMs: 15_000 });
    onTestFinished(() => store.close());
    const { id, lease } = await createAndClaim(store);
    const place = { persona: "architect", phase: "design", session: id, day: "2026-01-01" };
    const limits = [limit("persona", { tokens: 100 }), limit("session", { tokens: 1_000, microUsd: 150 })];
    return { store, id, lease, budgets: namedBudgets(limits, place), place };
  }

  test("shows what is used of each budget, and which one was overrun", async () => {
    const { store, id, lease, budgets } = await openTracker();
    await call(store, lease, took(120));
    expect(await new TokenTracker(store.reports).statuses(id, budgets)).toEqual([
      { ...budgets[0], used: amount(120), reserved: amount(0), overrun: true },
      { ...budgets[1], used: amount(120), reserved: amount(0), overrun: true },
    ]);
    const other = [{ level: "persona", name: "nobody", budget: { tokens: 1 } }] as const;
    expect(await new TokenTracker(store.reports).statuses(id, other)).toEqual([
      { ...other[0], used: noAmount, reserved: noAmount, overrun: false },
    ]);
  });

  test("gives each alert once, also in the next process, and again for a raised budget", async () => {
    const { store, lease, budgets, place } = await openTracker();
    const tracker = new TokenTracker(store.reports);
    await call(store, lease, took(70));
    const names = async (by: TokenTracker, of = budgets) =>
      (await raisedBy(by, { store, lease }, of)).map(({ level, unit, kind }) => `${level} ${unit} ${kind}`);
    expect(await names(tracker)).toEqual(["session usd threshold"]);
    await call(store, lease, took(15));
    expect(await names(tracker)).toEqual(["persona tokens threshold"]);
    expect(await names(tracker)).toEqual([]);
    expect(await names(new TokenTracker(store.reports))).toEqual([]);
    const raised = namedBudgets([limit("persona", { tokens: 106 })], place);
    expect(await names(tracker, raised)).toEqual(["persona tokens threshold"]);
    expect(await names(tracker, [])).toEqual([]);
  });

  test("warns when what is left to do usually takes more than is left", async () => {
    const { store, lease, budgets } = await openTracker();
    await call(store, lease, took(40));
    const run = { phase: "build", persona: "coder", model: "m" };
    const history = [{ ...run, spent: amount(50, 100) }];
    const alerts = await raisedBy(new TokenTracker(store.reports), { store, lease }, budgets, (totals) =>
      expectedAtEnd(history, [run], totals),
    );
    expect(alerts).toMatchObject([
      { kind: "forecast", level: "session", unit: "usd", limit: 150, used: 80, expected: 180 },
    ]);
  });

  test("totals of other levels and names are not mistaken for each other", () => {
    const totals = [
      { level: "phase", name: "design", used: amount(5), reserved: noAmount },
      { level: "persona", name: "design", used: amount(7), reserved: noAmount },
    ] as const;
    const budget = { tokens: 10 };
    const [status] = budgetStatuses(totals, [{ level: "persona", name: "design", budget }]);
    expect(status?.used).toEqual(amount(7));
  });
});
