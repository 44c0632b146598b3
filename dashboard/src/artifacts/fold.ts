import type { ComparedLine } from "./diff-lines.ts";

/** Changed lines with some context. Long equal stretches become one entry that can be opened. */
export type Folded =
  | { readonly kind: "line"; readonly line: ComparedLine; readonly index: number }
  | { readonly kind: "fold"; readonly from: number; readonly to: number };

const leastFolded = 4;

export function foldEqual(lines: readonly ComparedLine[], opened: ReadonlySet<number>, around = 3): Folded[] {
  const shown = new Uint8Array(lines.length);
  lines.forEach(({ sign }, index) => {
    if (sign !== " ") shown.fill(1, Math.max(0, index - around), Math.min(lines.length, index + around + 1));
  });
  const folded: Folded[] = [];
  for (let index = 0; index < lines.length; ) {
    let to = index;
    while (to < lines.length && shown[to] === 0) to += 1;
    if (to - index >= leastFolded && !opened.has(index)) {
      folded.push({ kind: "fold", from: index, to });
      index = to;
      continue;
    }
    const end = Math.max(to, index + 1);
    for (; index < end; index += 1) {
      const line = lines[index];
      if (line !== undefined) folded.push({ kind: "line", line, index });
    }
  }
  return folded;
}
