import { inspect } from "node:util";

const longest = 80;

/** A value as an error message shows it: on one line, and short whatever it is. */
export function showValue(value: unknown): string {
  const shown =
    typeof value === "string"
      ? JSON.stringify(value.slice(0, longest + 1))
      : inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY, maxStringLength: longest });
  return shown.length > longest ? `${shown.slice(0, longest)}...` : shown;
}
