import { constants } from "node:fs";
import { chmod, open, rename, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { newId } from "../domain/ids.ts";
import { inParallel } from "./in-parallel.ts";
import { type Name, OpenFolder } from "./open-folder.ts";

const listedAtOnce = 1000;
const removedAtOnce = 8;
/** Deeper folders are moved up first, so that neither path length nor descriptors run out. */
const deepest = 32;
/** Linux: a descriptor that only refers to a file and needs no permission. Node has no constant for it. */
const pathOnly = process.platform === "linux" ? 0o10000000 : undefined;

/** Removes everything that a command may have left, at any depth and with any name or mode. */
export async function removeFolder(directory: string): Promise<void> {
  const path = resolve(directory);
  try {
    await using parent = await OpenFolder.open(dirname(path));
    await removeIn(parent, basename(path));
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

async function removeIn(parent: OpenFolder, name: Name): Promise<void> {
  {
    await using root = await openWithRights(parent, name);
    await empty(root, root, 0);
  }
  await rmdir(parent.at(name));
}

async function empty(folder: OpenFolder, root: OpenFolder, depth: number): Promise<void> {
  for (;;) {
    const entries = await folder.list(listedAtOnce);
    if (entries.length === 0) return;
    // One folder at a time keeps few descriptors open. Files are removed together.
    const folders = entries.filter(({ kind }) => kind === "folder");
    await inParallel(
      entries.filter(({ kind }) => kind !== "folder"),
      removedAtOnce,
      ({ name }) => unlink(folder.at(name)).catch(unlessGone),
    );
    for (const { name } of folders) await removeFolderIn(folder, name, root, depth + 1).catch(unlessGone);
  }
}

async function removeFolderIn(
  folder: OpenFolder,
  name: Name,
  root: OpenFolder,
  depth: number,
): Promise<void> {
  {
    await using inner = await openWithRights(folder, name);
    if (depth > deepest) return await rename(folder.at(name), root.at(newId()));
    await empty(inner, root, depth);
  }
  await rmdir(folder.at(name));
}

/** Without permissions, which a command may have removed, a folder can be neither listed nor emptied nor moved. */
async function openWithRights(parent: OpenFolder, name: Name): Promise<OpenFolder> {
  try {
    const folder = await parent.folder(name);
    if ((folder.status.mode & 0o700n) !== 0o700n) await folder.setMode(0o700);
    return folder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES" || pathOnly === undefined) throw error;
    const handle = await open(parent.at(name), pathOnly | constants.O_NOFOLLOW | constants.O_DIRECTORY);
    try {
      await chmod(`/proc/self/fd/${handle.fd}`, 0o700);
    } finally {
      await handle.close();
    }
    return parent.folder(name);
  }
}

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

function unlessGone(error: unknown): void {
  if (!isGone(error)) throw error;
}
