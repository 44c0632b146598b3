import { columnOf, tokenCounts } from "../../domain/usage.ts";
import { savedColumns, savingsKey, sumColumns, usageKey } from "../sql/usage-columns.ts";
import { adding, insertRows, updateRows } from "./changes.ts";
import { alertKey, type LedgerImage } from "./ledger-image.ts";
import type { Transaction } from "./transactions.ts";

const totalsColumns = [
  "used_tokens",
  "used_micro_usd",
  "used_unpriced",
  "reserved_tokens",
  "reserved_micro_usd",
  "reserved_unpriced",
] as const;

/** Totals of days come last, because all processes share them. */
export function saveLedger(transaction: Transaction, ledger: LedgerImage): void {
  const added = ledger.added.flatMap((number) => ledger.calls.get(number) ?? []);
  insertRows(
    transaction,
    "ledger",
    [
      ["number", "bigint"],
      ["session", "bigint"],
      ["epoch", "int"],
      ["phase", "text"],
      ["persona", "text"],
      ["round", "int"],
      ["attempt", "int"],
      ["started", "int"],
      ["model", "text"],
      ["day", "text"],
      ["at", "bigint"],
      ["asked_tokens", "bigint"],
      ["asked_micro_usd", "bigint"],
      ["prices", "text"],
      ["status", "text"],
    ],
    added.map((c) => [
      c.number,
      c.session,
      c.epoch,
      c.phase,
      c.persona,
      c.round,
      c.attempt,
      c.started,
      c.model,
      c.day,
      c.at,
      c.askedTokens,
      c.askedMicroUsd,
      c.prices,
      "open",
    ]),
  );
  if (ledger.removed.length > 0)
    transaction.write("DELETE FROM ledger WHERE number = ANY($1::bigint[])", [ledger.removed]);
  saveEnded(transaction, ledger);
  insertRows(
    transaction,
    "budget_alerts",
    (["session", "level", "name", "kind", "unit", "budget", "used", "expected", "at"] as const).map(
      (name) => [name, ["level", "name", "kind", "unit"].includes(name) ? "text" : "bigint"],
    ),
    ledger.alerts.map(({ session, at, alert }) => [
      ...alertKey(session, alert),
      alert.used,
      alert.expected,
      at,
    ]),
  );
  addSums(transaction, "usage", usageKey, sumColumns, ledger.usage);
  addSums(transaction, "savings", savingsKey, savedColumns, ledger.savings);
  saveTotals(transaction, ledger);
}

function saveEnded(transaction: Transaction, { calls, changed }: LedgerImage): void {
  const columns = ["step", "ended_at", "failed", ...tokenCounts.map(columnOf), "cost_micro_usd"];
  updateRows(
    transaction,
    "ledger",
    [["number", "bigint"], ["status", "text"], ...columns.map((name) => [name, "bigint"] as const)],
    [...changed].flatMap((number) => {
      const c = calls.get(number);
      if (c === undefined) return [];
      const tokens = tokenCounts.map((name) => c[name]);
      return [[number, c.status, c.step, c.endedAt, c.failed, ...tokens, c.costMicroUsd]];
    }),
    {
      set: `status = x.status, ${columns.map((name) => `${name} = x.${name}`).join(", ")}`,
      where: "t.number = x.number",
    },
  );
}

function addSums(
  transaction: Transaction,
  table: string,
  key: readonly string[],
  sums: readonly string[],
  { all }: LedgerImage["usage"],
): void {
  const typed = key.map((name) => [name, name === "session" ? "bigint" : "text"] as const);
  insertRows(
    transaction,
    table,
    [...typed, ...sums.map((name) => [name, "bigint"] as const)],
    [...all.values()].map(({ key, values }) => [...key, ...values]),
    adding(table, key, sums),
  );
}

/** Own totals before those of days: a process that waits for a day holds nothing that another one waits for. */
function saveTotals(transaction: Transaction, { totals }: LedgerImage): void {
  const sums = [...totals.all.values()].filter(({ values }) => values.some((value) => value !== 0));
  const isOfDay = ({ key }: (typeof sums)[number]): boolean => key[1] === "day";
  for (const part of [sums.filter((sum) => !isOfDay(sum)), sums.filter(isOfDay)]) {
    const rows = part.map(({ key, values }) => [...key, ...values]);
    const key = [
      ["session", "bigint"],
      ["level", "text"],
      ["name", "text"],
    ] as const;
    const columns = [...key, ...totalsColumns.map((name) => [name, "bigint"] as const)];
    const onlyGrows = (row: readonly unknown[]) => row.slice(3).every((value) => Number(value) >= 0);
    const names = key.map(([name]) => name);
    insertRows(
      transaction,
      "budget_totals",
      columns,
      rows.filter(onlyGrows),
      adding("budget_totals", names, totalsColumns),
    );
    // The table refuses to subtract more than it has.
    updateRows(
      transaction,
      "budget_totals",
      columns,
      rows.filter((row) => !onlyGrows(row)),
      {
        set: totalsColumns.map((name) => `${name} = t.${name} + x.${name}`).join(", "),
        where: names.map((name) => `t.${name} = x.${name}`).join(" AND "),
      },
    );
  }
}
