import { constants } from "node:fs";
import { mkdir } from "node:fs/promises";
import { InputInvalid } from "../domain/errors.ts";
import { LayeredTree, type Tree, type TreeFile } from "../domain/tree.ts";
import { checkBasePath, checkPath, showPath } from "../domain/tree-path.ts";
import type { BlobStore } from "./blobs.ts";
import { inParallel } from "./in-parallel.ts";
import { OpenFolder } from "./open-folder.ts";
import { removeFolder } from "./remove-folder.ts";
import { storageFailure } from "./storage-failure.ts";

const foldersAtOnce = 4;
const filesAtOnce = 4;
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/** `exact`: 0644 and 0755. `umask`: the modes that the user's own programs would give. */
type FileModes = "exact" | "umask";

interface WriteTreeOptions {
  readonly modes: FileModes;
  /** Synced to disk before it returns. */
  readonly isDurable: boolean;
}

/** Writes each file of the tree below the folder. An existing file is an error and stays unchanged. */
export async function writeTree(
  root: OpenFolder,
  tree: Tree,
  blobs: BlobStore,
  options: WriteTreeOptions,
): Promise<void> {
  await inParallel(byFolder(tree), foldersAtOnce, async ([names, files]) => {
    await withFolder(root, names, async (folder) => {
      await inParallel(files, filesAtOnce, ([name, file]) => writeFile(folder, name, file, blobs, options));
      if (options.isDurable) await folder.sync();
    });
  });
}

/** Opens one folder after the other, so that none can be a link, and creates missing ones. */
export async function withFolder(
  root: OpenFolder,
  names: readonly string[],
  work: (folder: OpenFolder) => Promise<void>,
): Promise<void> {
  const [first, ...rest] = names;
  if (first === undefined) return work(root);
  await using folder = await root.makeFolder(first);
  await withFolder(folder, rest, work);
}

export async function writeFile(
  folder: OpenFolder,
  name: string,
  { sha256, mode }: TreeFile,
  blobs: BlobStore,
  { modes, isDurable }: WriteTreeOptions,
): Promise<void> {
  const content = await blobs.get(sha256);
  if (mode === "link") return folder.makeLink(name, content);
  const executable = mode === "executable";
  const file = await folder.file(name, newFile, executable ? 0o777 : 0o666);
  try {
    await file.writeFile(content);
    if (modes === "exact") await file.chmod(executable ? 0o755 : 0o644);
    if (isDurable) await file.sync();
  } finally {
    await file.close();
  }
}

type Named = readonly [name: string, file: TreeFile];

/** Checks every path before writing the first file, because a tree may come from another machine's checkpoint. */
function byFolder(tree: Tree): [names: readonly string[], files: Named[]][] {
  const folders = new Map<string, [readonly string[], Named[]]>();
  for (const [path, file] of tree) {
    const isOfBase = tree instanceof LayeredTree && tree.base.files.has(path);
    // A tree has each path in one spelling. A workspace never makes another one.
    if ((isOfBase ? checkBasePath(path) : checkPath(path)) !== path)
      throw new InputInvalid(`${showPath(path)} is not in its normalized spelling.`, { details: { path } });
    const names = path.split("/");
    const name = names.pop() ?? "";
    const key = names.join("/");
    const known = folders.get(key);
    if (known === undefined) folders.set(key, [names, [[name, file]]]);
    else known[1].push([name, file]);
  }
  return [...folders.values()];
}

/**
 * Writes the tree into a new folder of mode 0700, or an existing empty one. On failure, the written files are
 * removed again.
 */
export async function materialize(tree: Tree, blobs: BlobStore, directory: string): Promise<void> {
  await makeEmpty(directory);
  try {
    await using root = await OpenFolder.open(directory);
    await root.setMode(0o700);
    await writeTree(root, tree, blobs, { modes: "exact", isDurable: false });
  } catch (error) {
    await removeFolder(directory).catch(() => undefined);
    throw storageFailure(directory, error);
  }
}

async function makeEmpty(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw storageFailure(directory, error);
    await using folder = await OpenFolder.open(directory).catch((cause: unknown) => {
      throw new InputInvalid(`${directory} is not a folder of its own.`, { cause });
    });
    if ((await folder.list(0)).length > 0)
      throw new InputInvalid(`${directory} is not empty.`, { advice: "Name a new folder." });
  }
}
