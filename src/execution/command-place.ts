import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../domain/ids.ts";
import type { TreeChange } from "../domain/tree.ts";
import type { BlobStore } from "../workspace/blob-store.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Where files of the virtual workspace meet a real disk, for as long as a program works on them. */
export class CommandPlace {
  readonly #blobs: BlobStore;
  readonly #scratch: string;

  constructor(blobs: BlobStore, scratch: string) {
    this.#blobs = blobs;
    this.#scratch = scratch;
  }

  /** Copies the files into a fresh folder, lets the work happen there and reads back what it left; nothing stays. */
  async inFolder<T>(
    workspace: Workspace,
    work: (directory: string) => Promise<T>,
  ): Promise<{
    readonly result: T;
    readonly changes: readonly TreeChange[];
    readonly refused: readonly { readonly path: string; readonly reason: string }[];
  }> {
    const [{ materialize }, { readBack }, { removeFolder }] = await Promise.all([
      import("../workspace/materialize.ts"),
      import("../workspace/read-back.ts"),
      import("../workspace/remove-folder.ts"),
    ]);
    await mkdir(this.#scratch, { recursive: true, mode: 0o700 });
    const directory = join(this.#scratch, newId());
    try {
      const { tree } = workspace;
      await workspace.save();
      await materialize(tree, this.#blobs, directory);
      const result = await work(directory);
      const { changes, refused } = await readBack(directory, tree, this.#blobs);
      return { result, changes, refused };
    } finally {
      await removeFolder(directory);
    }
  }
}
