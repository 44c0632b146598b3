/** Text with "\n" only, and what its line ends were: all the same, or (for a mixed file) which were "\r\n". */
export interface UnifiedText {
  readonly text: string;
  readonly ends: "\n" | "\r\n" | readonly boolean[];
}

/** Replaces what lies between two places of the text. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export function unify(text: string): UnifiedText {
  if (!text.includes("\r\n")) return { text, ends: "\n" };
  const unified = text.replaceAll("\r\n", "\n");
  const ends: boolean[] = [];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1))
    ends.push(text[at - 1] === "\r");
  return { text: unified, ends: ends.every(Boolean) ? "\r\n" : ends };
}

export function restore({ text, ends }: UnifiedText): string {
  if (ends === "\n") return text;
  if (ends === "\r\n") return text.replaceAll("\n", "\r\n");
  let line = 0;
  return text.replaceAll("\n", () => (ends[line++] ? "\r\n" : "\n"));
}

/** In order and not overlapping. Lines that are not replaced keep their ends; new ones end as those around them. */
export function replaceIn({ text, ends }: UnifiedText, replacements: readonly Replacement[]): UnifiedText {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text: replacement } of replacements) {
    parts.push(text.slice(at, start), replacement);
    at = end;
  }
  parts.push(text.slice(at));
  const replaced = parts.join("");
  return { text: replaced, ends: typeof ends === "string" ? ends : replacedEnds(text, ends, replacements) };
}

function replacedEnds(
  text: string,
  ends: readonly boolean[],
  replacements: readonly Replacement[],
): boolean[] {
  const replaced: boolean[] = [];
  let line = 0;
  let at = 0;
  for (const { start, end, text: replacement } of replacements) {
    const kept = countLines(text, at, start);
    for (const stop = line + kept; line < stop; line += 1) replaced.push(ends[line] ?? false);
    const removed = countLines(text, start, end);
    const around = ends[line + Math.max(removed - 1, 0)] ?? ends[line - 1] ?? false;
    const added = countLines(replacement, 0, replacement.length);
    for (let index = 0; index < added; index += 1) {
      replaced.push(index < removed ? (ends[line + index] ?? around) : around);
    }
    line += removed;
    at = end;
  }
  for (; line < ends.length; line += 1) replaced.push(ends[line] ?? false);
  return replaced;
}

export function countLines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
