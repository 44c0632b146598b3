import { mkdir } from "node:fs/promises";
import { InputInvalid } from "../domain/errors.ts";
import type { Tree } from "../domain/tree.ts";
import type { BlobStore } from "./blob-store.ts";
import { OpenFolder } from "./open-folder.ts";
import { removeFolder } from "./remove-folder.ts";
import { storageFailure } from "./storage-failure.ts";
import { writeTree } from "./write-tree.ts";

/**
 * Writes the tree into a new folder of mode 0700; one that exists must be empty. When that fails, what was written is
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
