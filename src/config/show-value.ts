const longest = 80;

/** A value as an error message shows it: on one line, and short whatever it is. */
export function showValue(value: unknown): string {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, longest + 1)) : outline(value);
  return shown.length > longest ? `${shown.slice(0, longest)}...` : shown;
}

/** Its first level only: deeper there may be a secret. */
function outline(value: unknown): string {
  // Fetched when it is needed: node:util loads much else, and every start would pay for it.
  const { inspect } = process.getBuiltinModule("node:util");
  return inspect(value, {
    depth: 0,
    compact: true,
    breakLength: Number.POSITIVE_INFINITY,
    maxStringLength: longest,
  });
}
