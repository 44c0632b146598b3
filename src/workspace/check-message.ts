/** One line for people and for the next attempt: the first problem, and how many more there are. */
export function oneLine(problems: readonly string[]): string {
  const [first = "", ...rest] = problems;
  const more = rest.length === 0 ? "" : ` (and ${rest.length} more)`;
  return `${first.replace(/\s+/g, " ").slice(0, 400).toWellFormed()}${more}`;
}
