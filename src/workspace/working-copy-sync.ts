import { unlink } from "node:fs/promises";
import { changesBetween, type Tree, type TreeChange } from "../domain/tree.ts";
import type { BlobStore } from "./blobs.ts";
import { OpenFolder } from "./open-folder.ts";
import { withFolder, writeFile } from "./write-tree.ts";

/** With more changes, a new copy is as fast. */
const mostChanges = 2_000;

/**
 * Changes a folder that contains `from` to contain `to`. False: a new copy is needed. No program may be running in
 * the folder, and no link is followed.
 */
export async function syncFolder(
  directory: string,
  from: Tree,
  to: Tree,
  blobs: BlobStore,
): Promise<boolean> {
  const changes = changesBetween(from, to);
  if (changes.length > mostChanges) return false;
  try {
    await using root = await OpenFolder.open(directory);
    // Remove first, because a file may replace a folder or the reverse.
    for (const change of changes) if (from.has(change.path)) await remove(root, change);
    for (const change of changes) await write(root, change, blobs);
    return true;
  } catch {
    // The folder does not match the tree.
    return false;
  }
}

async function remove(root: OpenFolder, { path }: TreeChange): Promise<void> {
  const [names, name] = split(path);
  await withFolder(root, names, async (folder) => unlink(folder.at(name)));
}

async function write(root: OpenFolder, { path, after }: TreeChange, blobs: BlobStore): Promise<void> {
  if (after === undefined) return;
  const [names, name] = split(path);
  await withFolder(root, names, (folder) =>
    writeFile(folder, name, after, blobs, { modes: "exact", isDurable: false }),
  );
}

function split(path: string): readonly [names: readonly string[], name: string] {
  const names = path.split("/");
  return [names, names.pop() ?? ""];
}
