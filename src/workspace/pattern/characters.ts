/** Code units as sorted ranges that do not touch: from, to, from, to, both ends included. */
export type Characters = readonly number[];

export const maxUnit = 0xffff;
const caseDistance = 0x20;

export const digits: Characters = rangesOf("09");
export const wordCharacters: Characters = rangesOf("09AZ__az");
export const spaces: Characters = union([
  rangesOf(
    "\t\r  \u00a0\u00a0\u1680\u1680\u2000\u200a\u2028\u2029\u202f\u202f\u205f\u205f\u3000\u3000\ufeff\ufeff",
  ),
]);
export const lineEnds: Characters = rangesOf("\n\n\r\r\u2028\u2029");

/** Each two characters are the ends of a range. */
export function rangesOf(pairs: string): Characters {
  return Array.from({ length: pairs.length }, (_, index) => pairs.charCodeAt(index));
}

export const only = (unit: number): Characters => [unit, unit];

export function union(sets: readonly Characters[]): Characters {
  const ranges: [number, number][] = [];
  for (const set of sets) for (const range of pairsOf(set)) ranges.push(range);
  ranges.sort(([a], [b]) => a - b);
  const merged: number[] = [];
  for (const [from, to] of ranges) {
    const end = merged.at(-1);
    if (end === undefined || from > end + 1) merged.push(from, to);
    else merged[merged.length - 1] = Math.max(end, to);
  }
  return merged;
}

export function complement(set: Characters): Characters {
  const inverted: number[] = [];
  let next = 0;
  for (const [from, to] of pairsOf(set)) {
    if (from > next) inverted.push(next, from - 1);
    next = to + 1;
  }
  if (next <= maxUnit) inverted.push(next, maxUnit);
  return inverted;
}

export function includes(set: Characters, unit: number): boolean {
  for (const [from, to] of pairsOf(set)) if (unit >= from && unit <= to) return true;
  return false;
}

/** With the other case of each letter of the Latin alphabet, and of each other letter that stands alone. */
export function ignoringCase(set: Characters): Characters {
  const added: Characters[] = [set];
  for (const [from, to] of pairsOf(set)) {
    added.push(shifted(from, to, "A", caseDistance), shifted(from, to, "a", -caseDistance));
    if (from === to && from > 127) added.push(...otherCases(from).map(only));
  }
  return union(added);
}

export function* pairsOf(set: Characters): Iterable<[number, number]> {
  for (let index = 0; index < set.length; index += 2) yield [set[index] ?? 0, set[index + 1] ?? 0];
}

/** The part of the range that lies in the alphabet starting at this letter, moved by the distance between cases. */
function shifted(from: number, to: number, letter: "A" | "a", distance: number): Characters {
  const first = Math.max(from, letter.charCodeAt(0));
  const last = Math.min(to, letter.charCodeAt(0) + 25);
  return first > last ? [] : [first + distance, last + distance];
}

function otherCases(unit: number): number[] {
  const letter = String.fromCharCode(unit);
  const cases = [letter.toUpperCase(), letter.toLowerCase()];
  return cases
    .filter((text) => text.length === 1 && text.charCodeAt(0) > 127)
    .map((text) => text.charCodeAt(0));
}
