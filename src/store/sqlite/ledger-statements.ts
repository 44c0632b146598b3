import type { DatabaseSync } from "node:sqlite";
import { columnOf, tokenCounts } from "../../domain/usage.ts";
import { ledgerColumns, totalsColumns } from "../sql/ledger-row.ts";
import { prepareLazily } from "./statement.ts";

const sql = {
  insert: `INSERT INTO ledger (session, epoch, phase, persona, round, attempt, started, model, day, at, asked_tokens,
                         asked_micro_usd, prices, status)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open')`,
  find: `SELECT ${ledgerColumns} FROM ledger WHERE number = ?`,
  findStep: `SELECT ${ledgerColumns} FROM ledger WHERE session = ? AND step = ?`,
  open: `SELECT ${ledgerColumns} FROM ledger WHERE session = ? AND status = 'open' ORDER BY number`,
  end: `UPDATE ledger SET step = ?, ended_at = ?, status = ?, failed = ?, ${tokenCounts.map((name) => `${columnOf(name)} = ?`).join(", ")}, cost_micro_usd = ?
     WHERE number = ?`,
  /** Unknown usage counts as reserved. */
  recent: `SELECT at, ended_at AS endedAt, coalesce(input_tokens + output_tokens, asked_tokens) AS tokens
     FROM ledger WHERE at > ? AND (model = ? OR substr(model, 1, length(?) + 1) = ? || '/')`,
  delete: "DELETE FROM ledger WHERE number = ?",
  deleteRows: "DELETE FROM ledger WHERE number IN (SELECT number FROM ledger WHERE session = ? LIMIT ?)",

  totals: `SELECT ${totalsColumns} FROM budget_totals WHERE session = ? AND level = ? AND name = ?`,
  reserveTotals: `INSERT INTO budget_totals (session, level, name, reserved_tokens, reserved_micro_usd, reserved_unpriced,
                                used_tokens, used_micro_usd, used_unpriced)
     VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0)
     ON CONFLICT (session, level, name) DO UPDATE SET
       reserved_tokens = reserved_tokens + excluded.reserved_tokens,
       reserved_micro_usd = reserved_micro_usd + excluded.reserved_micro_usd,
       reserved_unpriced = reserved_unpriced + excluded.reserved_unpriced`,
  /** The table refuses to subtract more than it has. */
  moveTotals: `UPDATE budget_totals SET
       used_tokens = used_tokens + ?, used_micro_usd = used_micro_usd + ?, used_unpriced = used_unpriced + ?,
       reserved_tokens = reserved_tokens - ?, reserved_micro_usd = reserved_micro_usd - ?,
       reserved_unpriced = reserved_unpriced - ?
     WHERE session = ? AND level = ? AND name = ?`,
  forgetTotals: "DELETE FROM budget_totals WHERE session = ?",

  raiseAlert: `INSERT INTO budget_alerts (session, level, name, kind, unit, budget, used, expected, at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  forgetAlerts: "DELETE FROM budget_alerts WHERE session = ?",
};

/** The statements on the ledger. */
export function ledgerStatements(database: DatabaseSync) {
  return prepareLazily(database, sql);
}
