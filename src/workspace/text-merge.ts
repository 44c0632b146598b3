import { diffLines, type Hunk } from "./line-diff.ts";

/** Lines of a text, from 1, both ends inclusive. `to` is `from` minus one if a side has no lines. */
export type LineRange = readonly [from: number, to: number];

export interface TextConflict {
  readonly ours: LineRange;
  readonly theirs: LineRange;
}

interface MergedText {
  /** Contains our lines where there is a conflict. */
  readonly lines: readonly string[];
  readonly conflicts: readonly TextConflict[];
}

/**
 * Merges three ways, by lines with their ends. Changes at the same or adjacent places agree only if they are
 * identical.
 */
export function mergeLines(
  base: readonly string[],
  ours: readonly string[],
  theirs: readonly string[],
  /** The replacement for our lines where there is a conflict. */
  mark: (ours: readonly string[], theirs: readonly string[]) => readonly string[] = (own) => own,
): MergedText {
  const left = new Side(diffLines(base, ours));
  const right = new Side(diffLines(base, theirs));
  const merged: string[] = [];
  const conflicts: TextConflict[] = [];
  let at = 0;
  for (let from = nextOf(left, right); from !== undefined; from = nextOf(left, right)) {
    append(merged, base, at, from);
    at = regionEnd(left, right, from);
    const [mine, yours] = [left.take(from, at), right.take(from, at)];
    if (!mine.isChanged) append(merged, theirs, yours.from, yours.to);
    else if (!yours.isChanged || isSame(ours, mine, theirs, yours)) append(merged, ours, mine.from, mine.to);
    else {
      const marked = mark(ours.slice(mine.from, mine.to), theirs.slice(yours.from, yours.to));
      append(merged, marked, 0, marked.length);
      conflicts.push({ ours: [mine.from + 1, mine.to], theirs: [yours.from + 1, yours.to] });
    }
  }
  append(merged, base, at, base.length);
  return { lines: merged, conflicts };
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly isChanged: boolean;
}

/** One side's hunks, consumed in order. */
class Side {
  readonly #hunks: readonly Hunk[];
  #at = 0;
  /** How far this side has shifted against the base so far. */
  #shift = 0;

  constructor(hunks: readonly Hunk[]) {
    this.#hunks = hunks;
  }

  /** The hunk after this many others. */
  ahead(count: number): Hunk | undefined {
    return this.#hunks[this.#at + count];
  }

  /** This side's lines in place of these lines of the base. */
  take(from: number, to: number): Span {
    const start = from + this.#shift;
    const first = this.#at;
    for (let next = this.ahead(0); next !== undefined && next.from <= to; next = this.ahead(0)) {
      this.#shift += next.otherTo - next.otherFrom - (next.to - next.from);
      this.#at += 1;
    }
    return { from: start, to: to + this.#shift, isChanged: this.#at > first };
  }
}

function nextOf(left: Side, right: Side): number | undefined {
  const starts = [left.ahead(0), right.ahead(0)].flatMap((hunk) => (hunk === undefined ? [] : [hunk.from]));
  return starts.length === 0 ? undefined : Math.min(...starts);
}

/** Grows until no hunk of either side is in it or touches it from outside. */
function regionEnd(left: Side, right: Side, from: number): number {
  let end = from;
  let [mine, yours] = [0, 0];
  for (;;) {
    const [next, other] = [left.ahead(mine), right.ahead(yours)];
    if (next !== undefined && next.from <= end) {
      end = Math.max(end, next.to);
      mine += 1;
    } else if (other !== undefined && other.from <= end) {
      end = Math.max(end, other.to);
      yours += 1;
    } else return end;
  }
}

function isSame(ours: readonly string[], mine: Span, theirs: readonly string[], yours: Span): boolean {
  if (mine.to - mine.from !== yours.to - yours.from) return false;
  for (let index = 0; index < mine.to - mine.from; index += 1) {
    if (ours[mine.from + index] !== theirs[yours.from + index]) return false;
  }
  return true;
}

/** Line by line: spreading a large text into call arguments overflows the stack. */
function append(merged: string[], lines: readonly string[], from: number, to: number): void {
  for (let at = from; at < to; at += 1) merged.push(lines[at] ?? "");
}
