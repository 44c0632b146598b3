import { diffLines, type Hunk } from "./line-diff.ts";
import { splitLines, unify } from "./text.ts";

const maxShownHunks = 5;
/** Bytes on each side of a change in a long line, enough to locate it. */
const aroundBytes = 40;
/** Where an edit may begin or end within a line. */
const pieces = /[^\s,;:.(){}[\]<>]{0,64}[\s,;:.(){}[\]<>]?/g;

/**
 * Why a file should be edited instead of rewritten: edits would take less than half of its size. Undefined if
 * rewriting is fine. Ignores line ends and byte order marks, which a rewrite seldom changes on purpose.
 */
export function adviseEdit(existing: string, written: string): string | undefined {
  const [before, after] = [existing, written].map((text) => text.replace(/^\ufeff/, "")) as [string, string];
  if (before === after) return before === "" ? undefined : "The file has exactly this content already.";
  const lines = splitLines(unify(before).text);
  const newLines = splitLines(unify(after).text);
  const hunks = diffLines(lines, newLines);
  if (hunks.length === 0) return undefined;
  const editBytes = hunks.reduce((sum, hunk) => sum + sizeOf(hunk, lines, newLines), 0);
  const rewriteBytes = Buffer.byteLength(after);
  if (editBytes * 2 >= rewriteBytes) return undefined;
  return (
    `The file exists, and the new content differs from it only at ${places(hunks)} of ${lines.length} lines. ` +
    `Edit those lines instead: about ${editBytes} bytes instead of ${rewriteBytes}.`
  );
}

/** Find and replace, each with a line on both sides, so that the place can be found. */
function sizeOf(hunk: Hunk, lines: readonly string[], newLines: readonly string[]): number {
  const around = bytesOf(lines, hunk.from - 1, hunk.from) + bytesOf(lines, hunk.to, hunk.to + 1);
  const whole =
    2 * around + bytesOf(lines, hunk.from, hunk.to) + bytesOf(newLines, hunk.otherFrom, hunk.otherTo);
  return whole <= 4 * aroundBytes ? whole : Math.min(whole, sizeWithin(hunk, lines, newLines));
}

/** The same within lines, because an edit need not contain a whole long line. */
function sizeWithin(hunk: Hunk, lines: readonly string[], newLines: readonly string[]): number {
  const [one, other] = trimmed(
    lines.slice(hunk.from, hunk.to).join(""),
    newLines.slice(hunk.otherFrom, hunk.otherTo).join(""),
  );
  const [before, after] = [one.match(pieces) ?? [], other.match(pieces) ?? []];
  return diffLines(before, after).reduce(
    (sum, { from, to, otherFrom, otherTo }) =>
      sum + 4 * aroundBytes + bytesOf(before, from, to) + bytesOf(after, otherFrom, otherTo),
    0,
  );
}

/** Both without their common beginning and end. */
function trimmed(one: string, other: string): readonly [string, string] {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  return [one.slice(start, one.length - end), other.slice(start, other.length - end)];
}

function bytesOf(lines: readonly string[], from: number, to: number): number {
  return Buffer.byteLength(lines.slice(Math.max(0, from), Math.max(0, to)).join(""));
}

function places(hunks: readonly Hunk[]): string {
  const shown = hunks.slice(0, maxShownHunks).map(({ from, to }) => {
    if (to === from) return `after line ${from}`;
    return to === from + 1 ? `line ${to}` : `lines ${from + 1} to ${to}`;
  });
  const more = hunks.length - shown.length;
  return more === 0 ? shown.join(", ") : `${shown.join(", ")} and ${more} other places`;
}
