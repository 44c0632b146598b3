import type { Document, Node, Pair } from "yaml";
import type { SourcePath } from "./place.ts";
import type { Position } from "./source-text.ts";

/** Finds where a value was written. For a missing value, the nearest enclosing one. */
export async function locateNode(
  document: Document.Parsed,
  position: (offset: number) => Position,
): Promise<(path: SourcePath, on: "key" | "value") => Position> {
  const { isAlias, isCollection, isMap, isScalar, isSeq } = await import("yaml");

  const target = (node: unknown): unknown => (isAlias(node) ? node.resolve(document) : node);
  const start = (node: unknown): number | undefined => (node as Node | null | undefined)?.range?.[0];

  /** A value on the lines below its key is located at the key. */
  function startOf({ key, value }: Pair, on: "key" | "value"): number | undefined {
    const isBelow = isCollection(value) && value.flow !== true;
    return on === "key" || isBelow ? start(key) : (start(value) ?? start(key));
  }

  return (path, on) => {
    let node: unknown = document.contents;
    let offset = start(node) ?? 0;
    for (const [index, step] of path.entries()) {
      const inside = target(node);
      if (isMap(inside)) {
        const pair = inside.items.find(({ key }) => isScalar(key) && String(key.value) === step);
        if (pair === undefined) break;
        offset = startOf(pair, index === path.length - 1 ? on : "value") ?? offset;
        node = pair.value;
      } else if (isSeq(inside)) {
        node = inside.items[Number(step)];
        if (node === undefined) break;
        offset = start(node) ?? offset;
      } else break;
    }
    return position(offset);
  };
}
