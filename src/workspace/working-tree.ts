import { mkdir, mkdtemp, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { InputInvalid } from "../domain/errors.ts";
import {
  editable,
  LayeredTree,
  type PathClash,
  PathIndex,
  type Tree,
  type TreeFile,
} from "../domain/tree.ts";
import { showPath, treeLimits } from "../domain/tree-path.ts";
import { reach } from "../store/fault-points.ts";
import type { BlobStore } from "./blobs.ts";
import { isUnchanged } from "./is-unchanged.ts";
import { removeFolder } from "./remove-folder.ts";
import { ownerMark } from "./scratch.ts";
import { materialize } from "./write-tree.ts";

/** Why a file cannot be added to a tree. */
export type TreeProblem = PathClash | { readonly kind: "file" | "files" | "bytes" };

/** A mutable tree. Its snapshots are immutable, and until the first change they cost nothing. */
export class WorkingTree {
  #files: Tree;
  /** Set while no snapshot shares the map; a shared map is copied before a change. */
  #own: ReturnType<typeof editable> | undefined;
  #index: PathIndex | undefined;
  /** Bytes beyond those of the base. */
  #bytes = 0;

  constructor(base: Tree) {
    this.#files = base;
  }

  get snapshot(): Tree {
    this.#own = undefined;
    return this.#files;
  }

  get(path: string): TreeFile | undefined {
    return this.#files.get(path);
  }

  paths(): Iterable<string> {
    return this.#files.keys();
  }

  problemOf(path: string, file: TreeFile): TreeProblem | undefined {
    const index = this.#paths();
    const before = this.#files.get(path);
    const clash = before === undefined ? index.clash(path) : undefined;
    if (clash !== undefined) return clash;
    if (file.bytes > treeLimits.maxFileBytes) return { kind: "file" };
    const base = this.#files instanceof LayeredTree ? this.#files.base.files.size : 0;
    if (before === undefined && this.#files.size - base >= treeLimits.maxFiles) return { kind: "files" };
    const bytes = this.#bytes - (before?.bytes ?? 0) + file.bytes;
    return bytes > treeLimits.maxTreeBytes ? { kind: "bytes" } : undefined;
  }

  /** Requires a path without problems. */
  set(path: string, file: TreeFile): void {
    const index = this.#paths();
    const before = this.#files.get(path);
    if (before === undefined) index.add(path);
    this.#bytes += file.bytes - (before?.bytes ?? 0);
    this.#writable().set(path, file);
  }

  delete(path: string): void {
    const before = this.#files.get(path);
    if (before === undefined) return;
    this.#paths().remove(path);
    this.#bytes -= before.bytes;
    this.#writable().delete(path);
  }

  #paths(): PathIndex {
    if (this.#index === undefined) {
      this.#index = new PathIndex(this.#files.keys());
      for (const { bytes } of this.#files.values()) this.#bytes += bytes;
      if (this.#files instanceof LayeredTree)
        for (const { bytes } of this.#files.base.files.values()) this.#bytes -= bytes;
    }
    return this.#index;
  }

  #writable(): ReturnType<typeof editable> {
    this.#own ??= editable(this.#files);
    this.#files = this.#own;
    return this.#own;
  }
}

export function refusedFile(path: string, problem: TreeProblem): InputInvalid {
  const [message, advice] = explain(path, problem);
  return new InputInvalid(message, { advice, details: { path, reason: problem.kind } });
}

function explain(path: string, problem: TreeProblem): readonly [message: string, advice: string] {
  const shown = showPath(path);
  switch (problem.kind) {
    case "file":
      return [
        `${shown} is larger than the limit of a file, which is ${treeLimits.maxFileBytes} bytes.`,
        "Split it into several files.",
      ];
    case "files":
      return [
        `${shown} would be one file too many; the limit is ${treeLimits.maxFiles}.`,
        "Remove files that are not needed.",
      ];
    case "bytes":
      return [
        `With ${shown} the files would have more than ${treeLimits.maxTreeBytes} bytes together.`,
        "Remove files that are not needed.",
      ];
    case "case": {
      const depth = problem.other.split("/").length;
      const meant = [problem.other, ...path.split("/").slice(depth)].join("/");
      return [
        `${shown} differs from ${showPath(problem.other)} only in case or Unicode form, and many disks take them for one.`,
        `Write it as ${showPath(meant)}.`,
      ];
    }
    case "file-folder":
      return problem.other === path
        ? [`${shown} is a folder.`, "Give the file another name, or remove what is in the folder."]
        : [
            `${showPath(problem.other)} is a file, so that ${shown} cannot be in it.`,
            "Choose another folder, or remove that file first.",
          ];
  }
}

/** Copies of a tree for commands to work in. A command's changes are discarded and never seen by the next command. */
export class WorkingCopy implements AsyncDisposable {
  readonly #tree: Tree;
  readonly #blobs: BlobStore;
  readonly #scratch: string;
  #directory: string | undefined;

  constructor(tree: Tree, blobs: BlobStore, scratch: string) {
    this.#tree = tree;
    this.#blobs = blobs;
    this.#scratch = scratch;
  }

  /** Returns the last copy if it is unchanged, otherwise a new one. */
  async fresh(): Promise<string> {
    if (this.#directory !== undefined && (await isUnchanged(this.#directory, this.#tree)))
      return this.#directory;
    await this[Symbol.asyncDispose]();
    await mkdir(this.#scratch, { recursive: true, mode: 0o700 });
    const name = join(await realpath(this.#scratch), await ownerMark());
    const directory = join(await mkdtemp(name), "workspace");
    this.#directory = directory;
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
