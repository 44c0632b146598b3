/** Results go to standard output, everything else to standard error. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Columns as wide as their widest cell; the last one is cut to the terminal. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(plain));
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const terminal = process.stdout.columns ?? Number.POSITIVE_INFINITY;
  return all
    .map((row) =>
      row
        .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
        .join("  "),
    )
    .map((line) => (line.length > terminal ? `${line.slice(0, terminal - 1)}…` : line))
    .join("\n");
}

/** What personas and people wrote must not steer the terminal. */
export function plain(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, " ");
}

/** Times as people say them. */
export function ago(at: number, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** To be pasted as it is. */
export function resumeCommand(session: string, stateDir: string | undefined): string {
  return `maestro resume ${session}${stateDir === undefined ? "" : ` --state-dir ${stateDir}`}`;
}
