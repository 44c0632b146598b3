import type { Transaction } from "./transactions.ts";

type Column = readonly [name: string, type: string];
type Row = readonly unknown[];

/** Rows of one statement: columns with their types, and one array for each. */
function columnsOf(columns: readonly Column[], rows: readonly Row[]): unknown[][] {
  return columns.map((_, at) => rows.map((row) => row[at] ?? null));
}

const arrays = (columns: readonly Column[]): string =>
  columns.map(([, type], at) => `$${at + 1}::${type}[]`).join(", ");

const names = (columns: readonly Column[]): string => columns.map(([name]) => name).join(", ");

/** `also`: what follows the rows, such as ON CONFLICT. */
export function insertRows(
  transaction: Transaction,
  table: string,
  columns: readonly Column[],
  rows: readonly Row[],
  also = "",
): void {
  if (rows.length === 0) return;
  const text = `INSERT INTO ${table} (${names(columns)}) SELECT * FROM unnest(${arrays(columns)}) ${also}`;
  transaction.write(text, columnsOf(columns, rows));
}

/** `sets` and `where` name the new values as x.column. */
export function updateRows(
  transaction: Transaction,
  table: string,
  columns: readonly Column[],
  rows: readonly Row[],
  { set, where }: { readonly set: string; readonly where: string },
): void {
  if (rows.length === 0) return;
  const text = `UPDATE ${table} t SET ${set}
    FROM unnest(${arrays(columns)}) AS x (${names(columns)}) WHERE ${where}`;
  transaction.write(text, columnsOf(columns, rows));
}

/** The clause that adds the new values to those of a row that is there. */
export function adding(table: string, key: readonly string[], sums: readonly string[]): string {
  const added = sums.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(", ");
  return `ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${added}`;
}
