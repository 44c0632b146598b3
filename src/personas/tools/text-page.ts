const pageLimits = { lines: 2000, bytes: 64 * 1024 } as const;

/** Part of a file; a last line says which line comes next. */
export function textPage(text: string, from = 1, lines = Number.POSITIVE_INFINITY): string {
  const all = text.split("\n");
  // A file that ends with a line break has no empty line after it.
  if (all.length > 1 && all.at(-1) === "") all.pop();
  if (from > all.length) return `[the file has ${all.length} lines; there is no line ${from}]`;
  const wanted = all.slice(from - 1, from - 1 + Math.min(lines, pageLimits.lines));
  const shown: string[] = [];
  let bytes = 0;
  for (const line of wanted) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > pageLimits.bytes) break;
    shown.push(line);
  }
  if (shown.length === 0) {
    const beginning = Buffer.from(wanted[0] ?? "").subarray(0, pageLimits.bytes);
    const cut = new TextDecoder().decode(beginning, { stream: true });
    const next = from < all.length ? `; continue with from: ${from + 1}` : "";
    return `${cut}\n[line ${from} of ${all.length} is longer than 64 KiB and was cut${next}]`;
  }
  const last = from + shown.length - 1;
  const note =
    last < all.length && shown.length < lines
      ? `\n[lines ${from} to ${last} of ${all.length}; continue with from: ${last + 1}]`
      : from > 1 || last < all.length
        ? `\n[lines ${from} to ${last} of ${all.length}]`
        : "";
  return shown.join("\n") + note;
}
