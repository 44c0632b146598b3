import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../../domain/ids.ts";
import { type Tree, type TreeChange, withChanges } from "../../domain/tree.ts";
import { isInstalled } from "../../domain/tree-path.ts";
import { reach } from "../../store/fault-points.ts";
import type { BlobStore } from "../../workspace/blobs.ts";
import type { Refusal } from "../../workspace/read-back.ts";
import type { Workspace } from "../../workspace/workspace.ts";

export interface Kept<T> {
  readonly result: T;
  readonly changes: readonly TreeChange[];
  readonly refused: readonly Refusal[];
}

/**
 * The files of one attempt on a disk, for one program after the other. Between programs only what the tools changed is
 * written again. It holds what programs left beside the files too, such as `node_modules`, and is never used again by another process: a
 * crash may have left anything.
 */
export class WorkingCopy {
  readonly #blobs: BlobStore;
  readonly #scratch: string;
  /** The content of the folder; undefined if it is unknown. */
  #held: { readonly directory: string; readonly tree: Tree } | undefined;
  #left: string[] = [];

  constructor(blobs: BlobStore, scratch: string) {
    this.#blobs = blobs;
    this.#scratch = scratch;
  }

  /** `keeps`: whether the program's changes count. If they do not, the folder is given up. */
  async use<T>(
    workspace: Workspace,
    work: (directory: string) => Promise<T>,
    keeps: (result: T) => boolean,
  ): Promise<Kept<T>> {
    const { readBack } = await import("../../workspace/read-back.ts");
    const { tree } = workspace;
    await workspace.save();
    const directory = await this.#prepare(tree);
    // Until the program has ended well, its folder may hold anything.
    this.#held = undefined;
    const result = await work(directory);
    if (!keeps(result)) return { result, changes: [], refused: [] };
    const { changes, refused } = await readBack(directory, tree, this.#blobs);
    const isExact = refused.length === 0 && !changes.some(({ path }) => isInstalled(path));
    if (isExact) this.#held = { directory, tree: withChanges(tree, changes) };
    return { result, changes, refused };
  }

  async remove(): Promise<void> {
    const { removeFolder } = await import("../../workspace/remove-folder.ts");
    reach?.("scratch:before-remove");
    for (const folder of this.#left) await removeFolder(folder);
    this.#left = [];
    this.#held = undefined;
  }

  async #prepare(tree: Tree): Promise<string> {
    if (this.#held !== undefined) {
      const { syncFolder } = await import("../../workspace/working-copy-sync.ts");
      const { directory, tree: from } = this.#held;
      if (await syncFolder(directory, from, tree, this.#blobs)) return directory;
    }
    await this.remove();
    const [{ materialize }, { ownerMark }] = await Promise.all([
      import("../../workspace/write-tree.ts"),
      import("../../workspace/scratch.ts"),
    ]);
    await mkdir(this.#scratch, { recursive: true, mode: 0o700 });
    const directory = join(this.#scratch, `${await ownerMark()}${newId()}`);
    this.#left.push(directory);
    await materialize(tree, this.#blobs, directory);
    reach?.("scratch:after-copy");
    return directory;
  }
}
