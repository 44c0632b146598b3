/** One line of a comparison. Numbers are those of the side it stands on. */
export interface ComparedLine {
  readonly sign: " " | "+" | "-";
  readonly before: number | null;
  readonly after: number | null;
  readonly text: string;
}

/** Beyond this many differences an exact answer is not worth its time: the stretch is shown as replaced. */
const mostDifferences = 1500;

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Lines that are in both once are fixed points (patience); between them the shortest change is found (Myers). */
export function diffLines(before: readonly string[], after: readonly string[]): ComparedLine[] {
  const lines: ComparedLine[] = [];
  compare({ from: 0, to: before.length }, { from: 0, to: after.length });
  return lines;

  function compare(old: Range, now: Range): void {
    let [oldFrom, oldTo, nowFrom, nowTo] = [old.from, old.to, now.from, now.to];
    while (oldFrom < oldTo && nowFrom < nowTo && before[oldFrom] === after[nowFrom])
      same(oldFrom++, nowFrom++);
    let tail = 0;
    while (oldFrom < oldTo && nowFrom < nowTo && before[oldTo - 1] === after[nowTo - 1]) {
      oldTo -= 1;
      nowTo -= 1;
      tail += 1;
    }
    between({ from: oldFrom, to: oldTo }, { from: nowFrom, to: nowTo });
    for (let index = 0; index < tail; index += 1) same(oldTo + index, nowTo + index);
  }

  function between(old: Range, now: Range): void {
    if (old.from === old.to || now.from === now.to) return replace(old, now);
    const anchors = uniqueAnchors(before, after, old, now);
    if (anchors.length === 0) return shortest(old, now);
    let [oldAt, nowAt] = [old.from, now.from];
    for (const [oldIndex, nowIndex] of anchors) {
      compare({ from: oldAt, to: oldIndex }, { from: nowAt, to: nowIndex });
      same(oldIndex, nowIndex);
      [oldAt, nowAt] = [oldIndex + 1, nowIndex + 1];
    }
    compare({ from: oldAt, to: old.to }, { from: nowAt, to: now.to });
  }

  function shortest(old: Range, now: Range): void {
    const script = myers(before, after, old, now);
    if (script === undefined) return replace(old, now);
    for (const [oldIndex, nowIndex] of script) {
      if (oldIndex === null) add(nowIndex ?? 0);
      else if (nowIndex === null) remove(oldIndex);
      else same(oldIndex, nowIndex);
    }
  }

  function replace(old: Range, now: Range): void {
    for (let index = old.from; index < old.to; index += 1) remove(index);
    for (let index = now.from; index < now.to; index += 1) add(index);
  }
  function same(oldIndex: number, nowIndex: number): void {
    lines.push({ sign: " ", before: oldIndex + 1, after: nowIndex + 1, text: after[nowIndex] ?? "" });
  }
  function add(index: number): void {
    lines.push({ sign: "+", before: null, after: index + 1, text: after[index] ?? "" });
  }
  function remove(index: number): void {
    lines.push({ sign: "-", before: index + 1, after: null, text: before[index] ?? "" });
  }
}

/** Lines that occur once on both sides, as the longest list that keeps its order. */
function uniqueAnchors(
  before: readonly string[],
  after: readonly string[],
  old: Range,
  now: Range,
): readonly (readonly [number, number])[] {
  const oldOnce = once(before, old);
  const nowOnce = once(after, now);
  const pairs: (readonly [number, number])[] = [];
  for (const [text, index] of oldOnce) {
    const other = nowOnce.get(text);
    if (index !== undefined && other !== undefined) pairs.push([index, other]);
  }
  return longestIncreasing(pairs);
}

/** undefined for what is there twice. */
function once(lines: readonly string[], { from, to }: Range): Map<string, number | undefined> {
  const found = new Map<string, number | undefined>();
  for (let index = from; index < to; index += 1) {
    const text = lines[index] ?? "";
    found.set(text, found.has(text) ? undefined : index);
  }
  return found;
}

/** Pairs come in order of their first number; keeps the most whose second numbers also rise. */
function longestIncreasing(
  pairs: readonly (readonly [number, number])[],
): readonly (readonly [number, number])[] {
  const ends: number[] = [];
  const previous: number[] = [];
  pairs.forEach(([, value], index) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    previous[index] = low === 0 ? -1 : (ends[low - 1] ?? -1);
    ends[low] = index;
  });
  const chosen: (readonly [number, number])[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index] ?? -1) {
    const pair = pairs[index];
    if (pair !== undefined) chosen.push(pair);
  }
  return chosen.toReversed();
}

/** Pairs of indices; null on the side where a line is missing. undefined when the two are too different. */
function myers(
  before: readonly string[],
  after: readonly string[],
  old: Range,
  now: Range,
): (readonly [number | null, number | null])[] | undefined {
  const [height, width] = [old.to - old.from, now.to - now.from];
  const most = Math.min(height + width, mostDifferences);
  const equal = (x: number, y: number) => before[old.from + x] === after[now.from + y];
  const trace: Int32Array[] = [];
  const furthest = new Int32Array(2 * most + 3);
  const middle = most + 1;
  for (let distance = 0; distance <= most; distance += 1) {
    trace.push(furthest.slice(middle - distance - 1, middle + distance + 2));
    for (let k = -distance; k <= distance; k += 2) {
      const down =
        k === -distance || (k !== distance && at(furthest, middle + k - 1) < at(furthest, middle + k + 1));
      let x = down ? at(furthest, middle + k + 1) : at(furthest, middle + k - 1) + 1;
      while (x < height && x - k < width && equal(x, x - k)) x += 1;
      furthest[middle + k] = x;
      if (x >= height && x - k >= width) return backtrack(trace, height, width, old, now);
    }
  }
  return undefined;
}

const at = (values: Int32Array, index: number): number => values[index] ?? 0;

function backtrack(
  trace: readonly Int32Array[],
  height: number,
  width: number,
  old: Range,
  now: Range,
): (readonly [number | null, number | null])[] {
  const script: (readonly [number | null, number | null])[] = [];
  let [x, y] = [height, width];
  for (let distance = trace.length - 1; distance >= 0; distance -= 1) {
    const reached = trace[distance] ?? new Int32Array();
    // Each copy holds the diagonals around its middle.
    const get = (k: number): number => at(reached, k + distance + 1);
    const k = x - y;
    const down = k === -distance || (k !== distance && get(k - 1) < get(k + 1));
    const beforeK = down ? k + 1 : k - 1;
    const beforeX = distance === 0 ? 0 : get(beforeK);
    const beforeY = distance === 0 ? 0 : beforeX - beforeK;
    while (x > beforeX && y > beforeY) {
      x -= 1;
      y -= 1;
      script.push([old.from + x, now.from + y]);
    }
    if (distance === 0) break;
    if (down) script.push([null, now.from + --y]);
    else script.push([old.from + --x, null]);
  }
  return script.toReversed();
}
