import type { DatabaseSync } from "node:sqlite";
import type { SavedAmount, UsageSums } from "../../domain/ledger.ts";
import {
  savedColumns,
  savingsKey,
  sumColumns,
  type UsagePlace,
  usageKey,
  valuesOf,
} from "../sql/usage-columns.ts";
import { prepareLazily } from "./statement.ts";

/** The sums of reports, changed inside the writer's transaction. */
export class UsageTable {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepareLazily(database, {
      addUsage: addition("usage", usageKey, sumColumns, placeholders(usageKey, sumColumns)),
      findUsage: `SELECT ${sumColumns.join(", ")} FROM usage
                  WHERE session = ? AND day = ? AND phase = ? AND persona = ? AND model = ? AND prices = ?`,
      addSaving: addition("savings", savingsKey, savedColumns, placeholders(savingsKey, savedColumns)),
      keepUsage: addition("usage", usageKey, sumColumns, nameless("usage", usageKey, sumColumns)),
      deleteUsage: "DELETE FROM usage WHERE session = ?",
      keepSavings: addition(
        "savings",
        savingsKey,
        savedColumns,
        nameless("savings", savingsKey, savedColumns),
      ),
      deleteSavings: "DELETE FROM savings WHERE session = ?",
    });
  }

  /** `sign` -1 subtracts an earlier addition. */
  add(place: UsagePlace, sums: UsageSums, sign: 1 | -1): void {
    this.#sql.addUsage.run(...keyOf(place), place.prices, ...valuesOf(sums).map((value) => sign * value));
  }

  /** Takes the result of `UsageReader.snapshot`. */
  restore(place: UsagePlace, sums: Readonly<Record<string, number>>): void {
    this.#sql.addUsage.run(...keyOf(place), place.prices, ...sumColumns.map((column) => sums[column] ?? 0));
  }

  sumsAt(place: UsagePlace): Readonly<Record<string, number>> {
    return (this.#sql.findUsage.get(...keyOf(place), place.prices) ?? {}) as Record<string, number>;
  }

  save(session: number, day: string, { kind, tokens, microUsd, ...of }: SavedAmount): void {
    const unpriced = microUsd === null ? 1 : 0;
    this.#sql.addSaving.run(...keyOf({ session, day, ...of }), kind, tokens, microUsd ?? 0, unpriced);
  }

  /** For a deleted session: keeps its sums without its name. */
  forget(session: number): void {
    const { keepUsage, deleteUsage, keepSavings, deleteSavings } = this.#sql;
    for (const statement of [keepUsage, deleteUsage, keepSavings, deleteSavings]) statement.run(session);
  }
}

const keyOf = ({ session, day, phase, persona, model }: Omit<UsagePlace, "prices">) =>
  [session, day, phase, persona, model] as const;

function addition(table: string, key: readonly string[], sums: readonly string[], source: string): string {
  const added = sums.map((column) => `${column} = ${column} + excluded.${column}`).join(", ");
  return `INSERT INTO ${table} (${[...key, ...sums].join(", ")}) ${source}
          ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${added}`;
}

function placeholders(key: readonly string[], sums: readonly string[]): string {
  return `VALUES (${[...key, ...sums].map(() => "?").join(", ")})`;
}

function nameless(table: string, key: readonly string[], sums: readonly string[]): string {
  return `SELECT ${["0", ...key.slice(1), ...sums].join(", ")} FROM ${table} WHERE session = ?`;
}
