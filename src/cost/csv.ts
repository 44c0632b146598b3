import { tokenCounts } from "../domain/usage.ts";
import type { UsageTotals } from "../domain/usage-totals.ts";
import type { UsageReport } from "./reports.ts";

type Cell = string | number | null;

const usageColumns = [
  "calls",
  "failedCalls",
  ...tokenCounts,
  "costUsd",
  "knownCostUsd",
  "unpricedCalls",
  "unreportedCalls",
  "simulatedCalls",
  "simulatedUsd",
  "estimatedTokens",
  "estimatedUsd",
  "reservedUsd",
  "savedTokens",
  "savedUsd",
  "cacheDiscountUsd",
] as const satisfies readonly (keyof UsageTotals)[];

/** One line per row, without a total. */
export function usageCsv({ by, rows }: UsageReport): string {
  return toCsv(
    [by, ...usageColumns, "prices"],
    rows.map((row) => [row.name, ...usageColumns.map((column) => row[column]), row.prices.join(" ")]),
  );
}

/** RFC 4180. An unknown value is an empty field. */
export function toCsv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((cells) => `${cells.map(toField).join(",")}\r\n`).join("");
}

function toField(cell: Cell): string {
  if (cell === null) return "";
  const text = typeof cell === "number" ? String(cell) : disarm(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A spreadsheet runs text that looks like a formula, also after blanks. An apostrophe makes it plain text. */
function disarm(text: string): string {
  return /^[\s\0]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20|%]|^[\t\r\n]/.test(text) ? `'${text}` : text;
}
