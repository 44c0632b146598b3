import { applyEdits, type Edit, editLimits } from "../../src/workspace/edit.ts";
import { diffLines } from "../../src/workspace/line-diff.ts";
import { splitLines } from "../../src/workspace/text.ts";

/** The most lines of context around a change. */
const mostContext = 40;

/**
 * The edits of whole lines that turn one text into the other, each with just enough context to be unique. Undefined when
 * the tool would refuse them. The edits are applied to check them.
 */
export function smallestEdits(before: string, after: string): readonly Edit[] | undefined {
  const wanted = splitLines(after);
  let lines = splitLines(before);
  const edits: Edit[] = [];
  let shift = 0;
  for (const { from, to, otherFrom, otherTo } of diffLines(lines, wanted)) {
    const added = wanted.slice(otherFrom, otherTo);
    // The edits before this one have moved it.
    const place = { from: from + shift, to: to + shift };
    const edit = withLeastContext(lines, place, added);
    if (edit === undefined) return undefined;
    edits.push(edit);
    lines = lines.toSpliced(place.from, place.to - place.from, ...added);
    shift += added.length - (to - from);
  }
  if (edits.length === 0 || edits.length > editLimits.maxEdits) return undefined;
  const result = applyEdits(before, edits);
  return result.kind === "applied" && result.text === after ? edits : undefined;
}

function withLeastContext(
  lines: readonly string[],
  { from, to }: { readonly from: number; readonly to: number },
  added: readonly string[],
): Edit | undefined {
  const text = lines.join("");
  for (let context = from === to ? 1 : 0; context <= mostContext; context += 1) {
    const found = Array.from({ length: context + 1 }, (_, above) => ({ above, below: context - above }))
      .filter(({ above, below }) => from - above >= 0 && to + below <= lines.length)
      .map(({ above, below }) => {
        const head = lines.slice(from - above, from).join("");
        const tail = lines.slice(to, to + below).join("");
        const find = head + lines.slice(from, to).join("") + tail;
        return { find, replace: head + added.join("") + tail };
      })
      .filter(({ find }) => find !== "" && isOnlyPlace(text, find))
      .toSorted((a, b) => a.find.length - b.find.length);
    if (found[0] !== undefined) return found[0];
  }
  return undefined;
}

function isOnlyPlace(text: string, find: string): boolean {
  const first = text.indexOf(find);
  return first !== -1 && text.indexOf(find, first + 1) === -1;
}
