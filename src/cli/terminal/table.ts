import { plain } from "./format.ts";
import { cut, padEnd, padStart, widthOf } from "./width.ts";

export interface Column {
  readonly head: string;
  readonly align?: "right";
  /** Left out when the table is too wide, highest number first. 0 or absent: always kept. */
  readonly yields?: number;
  /** Cut down to this width before any column is left out. */
  readonly shrinksTo?: number;
}

const gap = 2;
const narrowest = 8;

/** Each column is as wide as its widest cell. Columns that do not fit are cut or left out, so that no line wraps. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  terminalColumns: number,
): string {
  const cells = [columns.map(({ head }) => head), ...rows].map((row) => row.map(plain));
  const natural = columns.map((_, index) => Math.max(...cells.map((row) => widthOf(row[index] ?? ""))));
  const least = columns.map(({ shrinksTo = Number.POSITIVE_INFINITY }, index) =>
    Math.min(natural[index] ?? 0, shrinksTo),
  );
  const shown = fitting(columns, least, terminalColumns);
  const widths = distribute(shown, natural, least, terminalColumns - gap * (shown.length - 1));
  return cells
    .map((row) =>
      shown
        .map((index, place) => {
          const width = widths[index] ?? 0;
          const cell = cut(row[index] ?? "", width);
          if (columns[index]?.align === "right") return padStart(cell, width);
          return place === shown.length - 1 ? cell : padEnd(cell, width);
        })
        .join(" ".repeat(gap)),
    )
    .map((line) => cut(line.trimEnd(), terminalColumns))
    .join("\n");
}

/** The indexes of the columns that fit at their minimum width. */
function fitting(columns: readonly Column[], least: readonly number[], room: number): readonly number[] {
  let shown = columns.map((_, index) => index);
  const yields = (index: number): number => columns[index]?.yields ?? 0;
  while (sum(shown, least) + gap * (shown.length - 1) > room) {
    const next = shown.filter((index) => yields(index) > 0).toSorted((a, b) => yields(b) - yields(a))[0];
    if (next === undefined) break;
    shown = shown.filter((index) => index !== next);
  }
  return shown;
}

/** Gives spare room to the columns that were shrunk. Takes missing room from the widest, down to a readable minimum. */
function distribute(
  shown: readonly number[],
  natural: readonly number[],
  least: readonly number[],
  room: number,
): readonly number[] {
  const widths = [...least];
  let spare = room - sum(shown, widths);
  for (const index of shown) {
    const more = Math.min(Math.max(0, spare), (natural[index] ?? 0) - (widths[index] ?? 0));
    widths[index] = (widths[index] ?? 0) + more;
    spare -= more;
  }
  for (; spare < 0; spare += 1) {
    const widest = shown.toSorted((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0];
    if (widest === undefined || (widths[widest] ?? 0) <= narrowest) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

const sum = (shown: readonly number[], widths: readonly number[]): number =>
  shown.reduce((total, index) => total + (widths[index] ?? 0), 0);

/** A bar in eighths of a block, so that small shares are visible. */
export function bar(share: number, columns: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * columns * 8);
  const rest = eighths % 8;
  const partial = rest === 0 ? "" : "▏▎▍▌▋▊▉"[rest - 1];
  return "█".repeat(Math.floor(eighths / 8)) + (partial ?? "");
}
