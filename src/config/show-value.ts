const longest = 80;

/** A value for an error message: short and on one line. */
export function showValue(value: unknown): string {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, longest + 1)) : outline(value);
  return shown.length > longest ? `${shown.slice(0, longest)}...` : shown;
}

/** Only its first level, because deeper levels may contain a secret. */
function outline(value: unknown): string {
  // Loaded on demand: node:util loads many other modules, which would slow every start.
  const { inspect } = process.getBuiltinModule("node:util");
  return inspect(value, {
    depth: 0,
    compact: true,
    breakLength: Number.POSITIVE_INFINITY,
    maxStringLength: longest,
  });
}
