import { diffIndices } from "node-diff3";

/** Lines `from` to `to` of one text correspond to lines `otherFrom` to `otherTo` of the other, ends exclusive. */
export interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly otherFrom: number;
  readonly otherTo: number;
}

/**
 * Limit for one thorough comparison, whose time and memory grow with the product of both lengths, and for all
 * together.
 */
const maxProduct = 1_000_000;
const maxProducts = 20_000_000;
/** Compared lines per line of input. A text made to be slow is compared less closely instead of longer. */
const maxEffort = 40;

/**
 * The differences in order: between lines that are unique in both texts, then thoroughly in small rest parts. Large
 * parts without unique lines count as changed as a whole, so the time is almost linear.
 */
export function diffLines(lines: readonly string[], others: readonly string[]): Hunk[] {
  const hunks: Hunk[] = [];
  let products = maxProducts;
  let effort = maxEffort * (lines.length + others.length);
  const open: Hunk[] = [{ from: 0, to: lines.length, otherFrom: 0, otherTo: others.length }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const range = trimmed(lines, others, next);
    const [length, otherLength] = [range.to - range.from, range.otherTo - range.otherFrom];
    effort -= next.to - next.from + next.otherTo - next.otherFrom;
    if (length === 0 && otherLength === 0) continue;
    if (length === 0 || otherLength === 0 || effort < 0 || products < 0) hunks.push(range);
    else if (length * otherLength <= maxProduct) {
      products -= length * otherLength;
      compareThoroughly(lines, others, range, hunks);
    } else {
      const parts = splitAtUnique(lines, others, range);
      if (parts.length === 1) hunks.push(range);
      // Push one at a time: too many arguments overflow the stack.
      else for (const part of parts.toReversed()) open.push(part);
    }
  }
  return hunks;
}

function trimmed(lines: readonly string[], others: readonly string[], range: Hunk): Hunk {
  let { from, to, otherFrom, otherTo } = range;
  while (from < to && otherFrom < otherTo && lines[from] === others[otherFrom]) {
    from += 1;
    otherFrom += 1;
  }
  while (from < to && otherFrom < otherTo && lines[to - 1] === others[otherTo - 1]) {
    to -= 1;
    otherTo -= 1;
  }
  return { from, to, otherFrom, otherTo };
}

function compareThoroughly(
  lines: readonly string[],
  others: readonly string[],
  range: Hunk,
  hunks: Hunk[],
): void {
  const found = diffIndices(lines.slice(range.from, range.to), others.slice(range.otherFrom, range.otherTo));
  for (const { buffer1, buffer2 } of found) {
    const from = range.from + buffer1[0];
    const otherFrom = range.otherFrom + buffer2[0];
    hunks.push({ from, to: from + buffer1[1], otherFrom, otherTo: otherFrom + buffer2[1] });
  }
}

/** The regions between lines that both sides have exactly once and in the same order. */
function splitAtUnique(lines: readonly string[], others: readonly string[], range: Hunk): Hunk[] {
  const parts: Hunk[] = [];
  let { from, otherFrom } = range;
  for (const [line, other] of commonOrder(uniquePairs(lines, others, range))) {
    parts.push({ from, to: line, otherFrom, otherTo: other });
    from = line + 1;
    otherFrom = other + 1;
  }
  parts.push({ from, to: range.to, otherFrom, otherTo: range.otherTo });
  return parts;
}

type Pair = readonly [line: number, other: number];

function uniquePairs(lines: readonly string[], others: readonly string[], range: Hunk): Pair[] {
  const places = uniquePlaces(lines, range.from, range.to);
  const otherPlaces = uniquePlaces(others, range.otherFrom, range.otherTo);
  const pairs: Pair[] = [];
  for (const [line, place] of places) {
    const other = otherPlaces.get(line);
    if (place !== -1 && other !== undefined && other !== -1) pairs.push([place, other]);
  }
  return pairs;
}

/** -1 for repeated lines. In order of the first place. */
function uniquePlaces(lines: readonly string[], from: number, to: number): Map<string, number> {
  const places = new Map<string, number>();
  for (let at = from; at < to; at += 1) {
    const line = lines[at] ?? "";
    places.set(line, places.has(line) ? -1 : at);
  }
  return places;
}

/** The longest run of pairs that ascends on both sides. The input is in order of the first. */
function commonOrder(pairs: readonly Pair[]): Pair[] {
  interface Link {
    readonly pair: Pair;
    readonly before: Link | undefined;
  }
  const ends: Link[] = [];
  for (const pair of pairs) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle]?.pair[1] ?? 0) < pair[1]) low = middle + 1;
      else high = middle;
    }
    ends[low] = { pair, before: ends[low - 1] };
  }
  const order: Pair[] = [];
  for (let link = ends.at(-1); link !== undefined; link = link.before) order.push(link.pair);
  return order.toReversed();
}
