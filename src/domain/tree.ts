import { sha256 } from "./canonical.ts";

/** One file of a tree; its bytes are in the artifact store, under their hash. */
export interface TreeFile {
  readonly sha256: string;
  readonly bytes: number;
  readonly executable: boolean;
}

/** The files a persona or a phase left, by path relative to the root, with "/" between names. */
export type Tree = ReadonlyMap<string, TreeFile>;

/** What happened to one path; `after` is missing when the file was removed. */
export interface TreeChange {
  readonly path: string;
  readonly after?: TreeFile;
}

export const emptyTree: Tree = new Map();

/** A tree as text: one form only, so that equal trees have equal hashes. */
export function toManifest(tree: Tree): string {
  return JSON.stringify(
    [...tree]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, { sha256, bytes, executable }]) => [path, sha256, bytes, executable ? 1 : 0]),
  );
}

/** The hash of the manifest, which is also where the artifact store keeps it. */
export function treeHash(tree: Tree): string {
  return sha256(toManifest(tree));
}

export function changesBetween(before: Tree, after: Tree): TreeChange[] {
  const changes: TreeChange[] = [];
  for (const [path, file] of after)
    if (!sameFile(before.get(path), file)) changes.push({ path, after: file });
  for (const path of before.keys()) if (!after.has(path)) changes.push({ path });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

export function withChanges(tree: Tree, changes: readonly TreeChange[]): Tree {
  const changed = new Map(tree);
  for (const { path, after } of changes) {
    if (after === undefined) changed.delete(path);
    else changed.set(path, after);
  }
  return changed;
}

export function sameFile(a: TreeFile | undefined, b: TreeFile | undefined): boolean {
  return a?.sha256 === b?.sha256 && a?.executable === b?.executable;
}
