import { sha256 } from "../domain/canonical.ts";
import type { Tree } from "../domain/tree.ts";
import { foldersAbove, OpenFolder } from "./open-folder.ts";
import { readFile } from "./read-file.ts";

/**
 * Whether a folder contains exactly the files of the tree, as `materialize` wrote them. Compares contents instead
 * of times, which a command may set freely.
 */
export async function isUnchanged(directory: string, tree: Tree): Promise<boolean> {
  try {
    await using root = await OpenFolder.open(directory);
    const folders = new Set([...tree.keys()].flatMap(foldersAbove));
    return (await countSame(root, "", tree, folders)) === tree.size;
  } catch {
    return false;
  }
}

/** The number of the tree's files below; undefined at the first difference. */
async function countSame(
  folder: OpenFolder,
  prefix: string,
  tree: Tree,
  folders: ReadonlySet<string>,
): Promise<number | undefined> {
  if ((folder.status.mode & 0o700n) !== 0o700n) return undefined;
  let count = 0;
  for (const { name, kind } of await folder.list(tree.size + folders.size)) {
    const path = prefix + name.toString();
    if (kind === "folder" && folders.has(path)) {
      await using inner = await folder.folder(name);
      const below = await countSame(inner, `${path}/`, tree, folders);
      if (below === undefined) return undefined;
      count += below;
    } else if ((kind === "file" || kind === "link") && (await isSame(folder, name, tree, path))) count += 1;
    else return undefined;
  }
  return count;
}

async function isSame(folder: OpenFolder, name: Buffer, tree: Tree, path: string): Promise<boolean> {
  const expected = tree.get(path);
  if (expected === undefined) return false;
  if (expected.mode === "link") return sha256(await folder.readLink(name)) === expected.sha256;
  const { mode } = await folder.statusOf(name);
  if ((mode & 0o7777n) !== (expected.mode === "executable" ? 0o755n : 0o644n)) return false;
  const reading = await readFile(folder, name, expected.bytes);
  return reading.kind === "read" && sha256(reading.content) === expected.sha256;
}
