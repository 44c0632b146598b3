/** Code units as sorted ranges that do not touch: from, to, from, to, both ends included. */
export type Characters = readonly number[];

export const maxUnit = 0xffff;

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

export function* pairsOf(set: Characters): Iterable<[number, number]> {
  for (let index = 0; index < set.length; index += 2) yield [set[index] ?? 0, set[index + 1] ?? 0];
}
