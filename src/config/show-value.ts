const longest = 80;

/** A value as an error message shows it: on one line, and short whatever it is. */
export function showValue(value: unknown): string {
  const shown = textOf(typeof value === "string" ? value.slice(0, longest + 1) : value);
  return shown.length > longest ? `${shown.slice(0, longest)}...` : shown;
}

/** Not `inspect`: node:util loads much else, and every start would pay for it. */
function textOf(value: unknown): string {
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  if (typeof value === "string" || typeof value === "object") return asJson(value) ?? "an object";
  return `${value as number | bigint | boolean | undefined}`;
}

/** Undefined for what contains itself. */
function asJson(value: string | object | null): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
