import { lstat, realpath, rename } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { InputInvalid } from "../domain/errors.ts";
import type { Tree } from "../domain/tree.ts";
import type { BlobStore } from "./blob-store.ts";
import { foldersAbove } from "./folders-above.ts";
import { makeFolders } from "./make-folders.ts";
import { OpenFolder } from "./open-folder.ts";
import { manifestName, manifestText, type OutManifest, putManifest } from "./out-manifest.ts";
import { mergeOut } from "./out-merge.ts";
import { reservedReason } from "./out-plan.ts";
import type { OutResult } from "./out-result.ts";
import { makeStage, removeOldStages, withStage } from "./out-stage.ts";
import { storageFailure } from "./storage-failure.ts";
import { writeTree } from "./write-tree.ts";

export type { Kept } from "./out-plan.ts";
export type { OutResult } from "./out-result.ts";

/**
 * Gives the tree to a person's folder. A folder that is new or empty appears whole, by one rename. In any other, each
 * file is replaced by one rename, after all of them have been written beside it: a full disk changes nothing, and a
 * crash leaves every file whole, old or new; doing it again finishes it. Only files that `.maestro-out.json` lists,
 * and that still have the content it says, are ever replaced or removed. Links are not followed. Two calls at the same
 * time for one folder are not supported.
 */
export async function writeOut(tree: Tree, blobs: BlobStore, directory: string): Promise<OutResult> {
  const wanted = resolve(directory);
  try {
    await makeFolders(dirname(wanted));
    const target = join(await realpath(dirname(wanted)), basename(wanted));
    await removeOldStages(dirname(target));
    const state = await stateOf(target);
    if (state !== "filled") {
      const result = await appear(tree, blobs, target, state);
      if (result !== undefined) return result;
      await makeFolders(target);
    }
    return await mergeOut(tree, blobs, target);
  } catch (error) {
    throw storageFailure(wanted, error);
  }
}

type TargetState = "missing" | "empty" | "filled";

async function stateOf(target: string): Promise<TargetState> {
  const status = await lstat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (status === undefined) return "missing";
  if (!status.isDirectory())
    throw new InputInvalid(`${target} is ${status.isSymbolicLink() ? "a symbolic link" : "not a folder"}.`, {
      advice: "Name a folder; a link is not followed.",
    });
  await using folder = await OpenFolder.open(target);
  return (await folder.list(0)).length === 0 ? "empty" : "filled";
}

/** Undefined when the folder cannot come into being by a rename; then its files have to come one by one. */
async function appear(
  tree: Tree,
  blobs: BlobStore,
  target: string,
  state: "missing" | "empty",
): Promise<OutResult | undefined> {
  // Somebody's shell may be in it, and would be left in a folder without a name.
  if (state === "empty" && (await realpath(target)) === process.cwd()) return undefined;
  const stage = await makeStage(dirname(target), 0o777).catch(() => undefined);
  if (stage === undefined) return undefined;
  return withStage(stage, async () => {
    const files = new Map([...tree].filter(([path]) => path !== manifestName));
    await using root = await OpenFolder.open(stage);
    if (state === "empty") await copyRights(target, root);
    await writeTree(root, files, blobs, { modes: "umask", isDurable: true });
    await putManifest(root, manifestText(manifestOf(files)));
    await root.sync();
    try {
      await rename(stage, target);
    } catch {
      return undefined;
    }
    await using parent = await OpenFolder.open(dirname(target));
    await parent.sync();
    const kept = tree.has(manifestName) ? [{ path: manifestName, reason: reservedReason }] : [];
    return { written: [...files.keys()].sort(), removed: [], kept };
  });
}

function manifestOf(files: Tree): OutManifest {
  return {
    files: new Map([...files].map(([path, { sha256 }]) => [path, [sha256]])),
    offered: new Map(),
    folders: [...new Set([...files.keys()].flatMap(foldersAbove))],
  };
}

/** The folder that takes the place of an empty one belongs to the same person. */
async function copyRights(from: string, to: OpenFolder): Promise<void> {
  const { mode, uid, gid } = await lstat(from);
  await to.setMode(mode & 0o7777);
  await to.setOwner(uid, gid).catch(() => undefined);
}
