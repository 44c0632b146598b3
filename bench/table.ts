/** Columns as wide as their widest cell. */
export function formatTable(headings: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  const format = (cells: readonly string[]) =>
    widths
      .map((width, column) => (cells[column] ?? "").padEnd(width))
      .join("  ")
      .trimEnd();
  return [format(headings), widths.map((width) => "-".repeat(width)).join("  "), ...lines.map(format)].join(
    "\n",
  );
}
