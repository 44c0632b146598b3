import { mkdir, mkdtemp, realpath, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Tree } from "../domain/tree.ts";
import { reach } from "../store/fault-points.ts";
import type { BlobStore } from "./blob-store.ts";
import { isUnchanged } from "./is-unchanged.ts";
import { materialize } from "./materialize.ts";
import { removeFolder } from "./remove-folder.ts";
import { ownerMark } from "./scratch.ts";

/** Copies of a tree for commands to work in. What a command changes there is thrown away, and never seen by the next. */
export class WorkingCopy implements AsyncDisposable {
  readonly #tree: Tree;
  readonly #blobs: BlobStore;
  readonly #scratch: string;
  readonly #modules: string | undefined;
  #directory: string | undefined;

  constructor(tree: Tree, blobs: BlobStore, scratch: string, modules: string | undefined) {
    this.#tree = tree;
    this.#blobs = blobs;
    this.#scratch = scratch;
    this.#modules = modules;
  }

  /** The last copy, when it is still what it was; otherwise a new one. */
  async fresh(): Promise<string> {
    if (this.#directory !== undefined && (await isUnchanged(this.#directory, this.#tree)))
      return this.#directory;
    await this[Symbol.asyncDispose]();
    await mkdir(this.#scratch, { recursive: true, mode: 0o700 });
    const name = join(await realpath(this.#scratch), await ownerMark());
    const directory = join(await mkdtemp(name), "workspace");
    this.#directory = directory;
    // Node looks for modules in the folders above. A sandbox has its own place for them, and does not see this one.
    if (this.#modules !== undefined) await symlink(this.#modules, join(dirname(directory), "node_modules"));
    await materialize(this.#tree, this.#blobs, directory);
    reach?.("scratch:after-copy");
    return directory;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const directory = this.#directory;
    this.#directory = undefined;
    if (directory === undefined) return;
    reach?.("scratch:before-remove");
    await removeFolder(dirname(directory));
  }
}
