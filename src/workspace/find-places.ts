import type { Replacement } from "./text.ts";

interface Wanted {
  readonly find: string;
  readonly replace: string;
  readonly all?: boolean | undefined;
}

/** The language's own search is fastest, but longer texts can make it slow. */
const longestQuickSearch = 250;

/** At most this many places, including overlapping ones unless all are replaced. */
export function findExactly(text: string, { find, replace, all }: Wanted, most: number): Replacement[] {
  const starts = all === true ? apart(text, find, most) : anywhere(text, find, most);
  return starts.map((start) => ({ start, end: start + find.length, text: replace }));
}

/** Matches whole lines, ignoring spaces around their text. New lines get the indentation of the old ones. */
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
  /** True if the text includes the end of its last line. */
  readonly endsLine: boolean;
}

/** Leading and trailing blank lines are not searched, because they are most often miscounted. */
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
  // Also remove the line end if the search text has one and the replacement does not.
  const takesEnd = wanted.endsLine && !endsLine && end < textLength;
  return { start, end: takesEnd ? end + 1 : end, text };
}

/** Removes as many blank lines as were left out of the search text. */
function withoutBlanks(
  lines: readonly string[],
  { blankBefore, blankAfter }: WantedLines,
): readonly string[] {
  let [from, to] = [0, lines.length];
  while (from < Math.min(blankBefore, to - 1) && lines[from]?.trim() === "") from += 1;
  while (lines.length - to < blankAfter && to - 1 > from && lines[to - 1]?.trim() === "") to -= 1;
  return lines.slice(from, to);
}

/** Offset of a line's first character; each line end counts as one. */
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

/** All occurrences of the needle, including overlapping ones, in linear time for any input. */
function occurrencesOf(needle: string, text: string, most?: number): number[] {
  return occurrences(unitsOf(text), unitsOf(needle), most);
}

/** Where these lines occur in sequence, ignoring spaces at their ends. */
function occurrencesOfLines(needle: readonly string[], lines: readonly string[], most?: number): number[] {
  // Comparing numbers is faster than comparing lines. Lines outside the needle are 0.
  const numbers = new Map<string, number>();
  for (const line of needle) if (!numbers.has(line.trim())) numbers.set(line.trim(), numbers.size + 1);
  const numbered = (line: string): number => numbers.get(line.trim()) ?? 0;
  return occurrences(Uint32Array.from(lines, numbered), Uint32Array.from(needle, numbered), most);
}

const unitsOf = (text: string): Uint16Array => {
  const bytes = Buffer.from(text, "utf16le");
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
};

/** Knuth, Morris and Pratt. */
function occurrences(
  haystack: ArrayLike<number>,
  needle: ArrayLike<number>,
  most = Number.POSITIVE_INFINITY,
): number[] {
  if (needle.length === 0 || needle.length > haystack.length) return [];
  const fallbacks = fallbacksOf(needle);
  const found: number[] = [];
  let matched = 0;
  for (let at = 0; at < haystack.length; at += 1) {
    while (matched > 0 && needle[matched] !== haystack[at]) matched = fallbacks[matched - 1] ?? 0;
    if (needle[matched] === haystack[at]) matched += 1;
    if (matched < needle.length) continue;
    if (found.push(at + 1 - needle.length) === most) return found;
    matched = fallbacks[matched - 1] ?? 0;
  }
  return found;
}

/** The length of the needle's prefix that recurs at each of its positions. */
function fallbacksOf(needle: ArrayLike<number>): Uint32Array {
  const fallbacks = new Uint32Array(needle.length);
  let matched = 0;
  for (let at = 1; at < needle.length; at += 1) {
    while (matched > 0 && needle[matched] !== needle[at]) matched = fallbacks[matched - 1] ?? 0;
    if (needle[matched] === needle[at]) matched += 1;
    fallbacks[at] = matched;
  }
  return fallbacks;
}

/** The indentation of a line as written and as found in the file. */
interface IndentPair {
  readonly written: string;
  readonly found: string;
}

/** Reindents written lines to match their neighbors in the file. */
function reindent(lines: readonly string[], pairs: readonly IndentPair[]): string[] {
  if (pairs.every(({ written, found }) => written === found)) return [...lines];
  const known = new Map<string, string>();
  for (const { written, found } of pairs) if (!known.has(written)) known.set(written, found);
  const scale = scaleOf(pairs, lines);
  return lines.map((line) => {
    const bare = line.trimStart();
    if (bare === "") return "";
    return movedIndent(indentOf(line), known, scale) + bare;
  });
}

const indentOf = (line: string): string => line.slice(0, line.length - line.trimStart().length);

interface Scale {
  /** The file's indentation character. */
  readonly character: " " | "\t";
  /** How many of them replace one written character. */
  readonly ratio: number;
}

function movedIndent(indent: string, known: ReadonlyMap<string, string>, scale: Scale): string {
  const same = known.get(indent);
  if (same !== undefined) return same;
  const moved = (extra: number): string => scale.character.repeat(Math.round(extra * scale.ratio));
  const byLength = [...known].sort(([a], [b]) => a.length - b.length);
  const outer = byLength.findLast(([written]) => indent.startsWith(written));
  if (outer !== undefined) return outer[1] + moved(indent.length - outer[0].length);
  // Less indented than anything in the search text.
  const inner = byLength.find(([written]) => written.startsWith(indent));
  if (inner === undefined) return byLength[0]?.[1] ?? indent;
  const less = moved(inner[0].length - indent.length).length;
  return inner[1].slice(0, Math.max(0, inner[1].length - less));
}

function scaleOf(pairs: readonly IndentPair[], lines: readonly string[]): Scale {
  const found = pairs.map((pair) => pair.found);
  const written = [...pairs.map((pair) => pair.written), ...lines.map(indentOf)];
  const character = styleOf(found) ?? styleOf(written) ?? " ";
  return { character, ratio: measuredRatio(pairs) ?? guessedRatio(character, written, found) };
}

/** Two lines at different depths reveal the ratio. */
function measuredRatio(pairs: readonly IndentPair[]): number | undefined {
  const [first] = pairs;
  if (first === undefined) return undefined;
  for (const { written, found } of pairs) {
    const writtenStep = written.length - first.written.length;
    const foundStep = found.length - first.found.length;
    if (writtenStep !== 0 && foundStep / writtenStep > 0) return foundStep / writtenStep;
  }
  return undefined;
}

function guessedRatio(character: " " | "\t", written: readonly string[], found: readonly string[]): number {
  const style = styleOf(written) ?? character;
  if (style === character) return 1;
  return character === "\t" ? 1 / stepOf(written) : stepOf(found);
}

const styleOf = (indents: readonly string[]): " " | "\t" | undefined => {
  const indent = indents.find((each) => each !== "");
  return indent === undefined ? undefined : indent.startsWith("\t") ? "\t" : " ";
};

/** The smallest step between two depths. */
function stepOf(indents: readonly string[]): number {
  const depths = [...new Set([0, ...indents.map(({ length }) => length)])].sort((a, b) => a - b);
  const steps = depths.slice(1).map((depth, index) => depth - (depths[index] ?? 0));
  return steps.length === 0 ? 4 : Math.min(...steps);
}
