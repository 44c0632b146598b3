import { diffLines } from "../../../src/workspace/line-diff.ts";

/** One line of a comparison, with its number on each side that has it. */
export interface ComparedLine {
  readonly sign: " " | "+" | "-";
  readonly before: number | null;
  readonly after: number | null;
  readonly text: string;
}

/** Lists the lines of both texts in order: equal, removed and added ones. */
export function compareLines(before: readonly string[], after: readonly string[]): ComparedLine[] {
  const lines: ComparedLine[] = [];
  let [oldIndex, newIndex] = [0, 0];
  const addEqualUntil = (end: number): void => {
    for (; oldIndex < end; oldIndex += 1, newIndex += 1)
      lines.push({ sign: " ", before: oldIndex + 1, after: newIndex + 1, text: before[oldIndex] ?? "" });
  };
  for (const { from, to, otherTo } of diffLines(before, after)) {
    addEqualUntil(from);
    for (; oldIndex < to; oldIndex += 1)
      lines.push({ sign: "-", before: oldIndex + 1, after: null, text: before[oldIndex] ?? "" });
    for (; newIndex < otherTo; newIndex += 1)
      lines.push({ sign: "+", before: null, after: newIndex + 1, text: after[newIndex] ?? "" });
  }
  addEqualUntil(before.length);
  return lines;
}
