import type { Replacement } from "./line-ends.ts";
import { occurrencesOf, occurrencesOfLines } from "./occurrences.ts";
import { indentOf, reindent } from "./reindent.ts";

interface Wanted {
  readonly find: string;
  readonly replace: string;
  readonly all?: boolean | undefined;
}

/** The search built into the language is fastest, but on longer texts it can be made slow. */
const longestQuickSearch = 250;

/** At most so many places, overlapping ones too unless all are to be replaced. */
export function findExactly(text: string, { find, replace, all }: Wanted, most: number): Replacement[] {
  const starts = all === true ? apart(text, find, most) : anywhere(text, find, most);
  return starts.map((start) => ({ start, end: start + find.length, text: replace }));
}

/** Whole lines, whatever is before and after their text; the new lines are moved to where the old ones are. */
export function findTolerantly(text: string, { find, replace }: Wanted, most: number): Replacement[] {
  const wanted = linesOf(find);
  if (wanted.lines.length === 0) return [];
  const lines = text.split("\n");
  return occurrencesOfLines(wanted.lines, lines, most).map((first) => {
    const found = lines.slice(first, first + wanted.lines.length);
    const start = offsetOf(lines, first);
    return fitted(start, found, wanted, replace, text.length);
  });
}

interface WantedLines {
  readonly lines: readonly string[];
  readonly blankBefore: number;
  readonly blankAfter: number;
  /** It includes the end of its last line. */
  readonly endsLine: boolean;
}

/** Blank lines around the text are not looked for: they are what is most often miscounted. */
function linesOf(text: string): WantedLines {
  const endsLine = text.endsWith("\n");
  const all = (endsLine ? text.slice(0, -1) : text).split("\n");
  const first = all.findIndex((line) => line.trim() !== "");
  const last = all.findLastIndex((line) => line.trim() !== "");
  if (first === -1) return { lines: [], blankBefore: all.length, blankAfter: 0, endsLine };
  return {
    lines: all.slice(first, last + 1),
    blankBefore: first,
    blankAfter: all.length - 1 - last,
    endsLine,
  };
}

function fitted(
  start: number,
  found: readonly string[],
  wanted: WantedLines,
  replace: string,
  textLength: number,
): Replacement {
  const endsLine = replace.endsWith("\n");
  const written = withoutBlanks((endsLine ? replace.slice(0, -1) : replace).split("\n"), wanted);
  const pairs = wanted.lines.flatMap((line, index) =>
    line.trim() === "" ? [] : [{ written: indentOf(line), found: indentOf(found[index] ?? "") }],
  );
  const text = reindent(written, pairs).join("\n") + (endsLine && !wanted.endsLine ? "\n" : "");
  const end = start + offsetOf(found, found.length) - 1;
  // The line end goes too when it was to be found and is not in the replacement.
  const takesEnd = wanted.endsLine && !endsLine && end < textLength;
  return { start, end: takesEnd ? end + 1 : end, text };
}

/** As many blank lines as were left out of what was looked for. */
function withoutBlanks(
  lines: readonly string[],
  { blankBefore, blankAfter }: WantedLines,
): readonly string[] {
  let [from, to] = [0, lines.length];
  while (from < Math.min(blankBefore, to - 1) && lines[from]?.trim() === "") from += 1;
  while (lines.length - to < blankAfter && to - 1 > from && lines[to - 1]?.trim() === "") to -= 1;
  return lines.slice(from, to);
}

/** Where a line begins, with one character for each line end before it. */
function offsetOf(lines: readonly string[], line: number): number {
  let offset = 0;
  for (let index = 0; index < line; index += 1) offset += (lines[index]?.length ?? 0) + 1;
  return offset;
}

function anywhere(text: string, find: string, most: number): number[] {
  if (find.length > longestQuickSearch) return occurrencesOf(find, text, most);
  const starts: number[] = [];
  for (let at = text.indexOf(find); at !== -1 && starts.length < most; at = text.indexOf(find, at + 1))
    starts.push(at);
  return starts;
}

function apart(text: string, find: string, most: number): number[] {
  if (find.length > longestQuickSearch)
    return notOverlapping(occurrencesOf(find, text), find.length).slice(0, most);
  const starts: number[] = [];
  for (
    let at = text.indexOf(find);
    at !== -1 && starts.length < most;
    at = text.indexOf(find, at + find.length)
  ) {
    starts.push(at);
  }
  return starts;
}

function notOverlapping(starts: readonly number[], length: number): number[] {
  let end = 0;
  return starts.filter((start) => {
    if (start < end) return false;
    end = start + length;
    return true;
  });
}
