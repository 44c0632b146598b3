import type { Node } from "yaml";
import { maxSourceDepth } from "./source-text.ts";

export interface Fault {
  readonly sentence: string;
  readonly offset: number;
}

/** The size of the file after aliases are expanded. */
const maxExpandedSize = 4 * 1024 * 1024;
/** The package searches the whole file for each alias. */
const maxAliases = 200;
const maxFaults = 20;

/** Rules beyond YAML and JSON: no repeated keys, no `__proto__`, and a bounded size after aliases are expanded. */
export async function findFaults(root: Node | null): Promise<readonly Fault[]> {
  const { isAlias, isMap, isScalar, isSeq } = await import("yaml");
  const faults: Fault[] = [];
  /** The size of each anchor's node, including aliases inside it; undefined while it is being read. */
  const anchors = new Map<string, number | undefined>();
  let aliases = 0;
  const report = (sentence: string, node: Node): void => {
    if (faults.length < maxFaults) faults.push({ sentence, offset: node.range?.[0] ?? 0 });
  };

  function sizeOf(node: unknown, depth: number): number {
    if (isAlias(node)) return sizeOfAlias(node);
    if (!isMap(node) && !isSeq(node)) {
      const size = isScalar(node) ? String(node.value).length + 1 : 1;
      if (isScalar(node) && node.anchor !== undefined) anchors.set(node.anchor, size);
      return size;
    }
    if (node.anchor !== undefined) anchors.set(node.anchor, undefined);
    let size = 1;
    if (depth >= maxSourceDepth) report(`It is nested deeper than ${maxSourceDepth} levels.`, node);
    else if (isMap(node)) size = sizeOfMap(node.items, depth);
    else for (const item of node.items) size += sizeOf(item, depth + 1);
    if (node.anchor !== undefined) anchors.set(node.anchor, size);
    return size;
  }

  function sizeOfMap(
    items: readonly { readonly key: unknown; readonly value: unknown }[],
    depth: number,
  ): number {
    const keys = new Set<string>();
    let size = 1;
    for (const { key, value } of items) {
      if (isScalar(key)) {
        const name = String(key.value);
        if (keys.has(name)) report(`The key "${name.slice(0, 60)}" is there twice.`, key);
        if (name === "__proto__") report('The key "__proto__" is refused.', key);
        keys.add(name);
      }
      size += sizeOf(key, depth + 1) + sizeOf(value, depth + 1);
    }
    return size;
  }

  function sizeOfAlias(node: Node & { readonly source: string }): number {
    aliases += 1;
    if (aliases === maxAliases + 1) report(`It uses more than ${maxAliases} aliases.`, node);
    const size = anchors.get(node.source);
    if (size !== undefined) return size;
    const known = anchors.has(node.source);
    const name = `"*${node.source.slice(0, 60)}"`;
    report(known ? `The alias ${name} contains itself.` : `There is no anchor for the alias ${name}.`, node);
    return 0;
  }

  if (root !== null && sizeOf(root, 0) > maxExpandedSize) {
    report(`Its aliases make it larger than ${maxExpandedSize} characters.`, root);
  }
  return faults;
}
