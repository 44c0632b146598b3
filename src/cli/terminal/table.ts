import { cut, padEnd, padStart, widthOf } from "./width.ts";
import { plain } from "./words.ts";

export interface Column {
  readonly head: string;
  /** Numbers read better from the right. */
  readonly align?: "right";
  /** Columns that give way first when there is little room; the higher, the sooner. 0 or nothing: never left out. */
  readonly yields?: number;
}

const gap = 2;
const narrowest = 8;

/** Columns as wide as their widest cell; what does not fit is left out or cut, so that no line ever wraps. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  terminalColumns: number,
): string {
  const cells = [columns.map(({ head }) => head), ...rows].map((row) => row.map(plain));
  let shown = columns.map((_, index) => index);
  const widthOfColumn = (index: number): number => Math.max(...cells.map((row) => widthOf(row[index] ?? "")));
  const widths = new Map(shown.map((index) => [index, widthOfColumn(index)]));
  const total = (): number =>
    shown.reduce((sum, index) => sum + (widths.get(index) ?? 0), gap * (shown.length - 1));
  while (total() > terminalColumns) {
    const next = nextToYield(columns, shown);
    if (next === undefined) break;
    shown = shown.filter((index) => index !== next);
  }
  shrink(shown, widths, total() - terminalColumns);
  return cells
    .map((row) =>
      shown
        .map((index, place) => {
          const width = widths.get(index) ?? 0;
          const cell = cut(row[index] ?? "", width);
          if (columns[index]?.align === "right") return padStart(cell, width);
          return place === shown.length - 1 ? cell : padEnd(cell, width);
        })
        .join(" ".repeat(gap)),
    )
    .map((line) => cut(line.trimEnd(), terminalColumns))
    .join("\n");
}

function nextToYield(columns: readonly Column[], shown: readonly number[]): number | undefined {
  const yielding = shown.filter((index) => (columns[index]?.yields ?? 0) > 0);
  return yielding.toSorted((a, b) => (columns[b]?.yields ?? 0) - (columns[a]?.yields ?? 0))[0];
}

/** The widest column gives first, down to what is still readable. */
function shrink(shown: readonly number[], widths: Map<number, number>, tooMuch: number): void {
  for (let left = tooMuch; left > 0 && Number.isFinite(left); left -= 1) {
    const widest = shown.toSorted((a, b) => (widths.get(b) ?? 0) - (widths.get(a) ?? 0))[0];
    if (widest === undefined || (widths.get(widest) ?? 0) <= narrowest) return;
    widths.set(widest, (widths.get(widest) ?? 0) - 1);
  }
}

/** A bar of eighths of a block, so that small shares are seen. */
export function bar(share: number, columns: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * columns * 8);
  const rest = eighths % 8;
  const partial = rest === 0 ? "" : "▏▎▍▌▋▊▉"[rest - 1];
  return "█".repeat(Math.floor(eighths / 8)) + (partial ?? "");
}
