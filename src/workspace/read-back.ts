import { sha256 } from "../domain/canonical.ts";
import { InputInvalid } from "../domain/errors.ts";
import {
  changesBetween,
  type FileMode,
  likeTree,
  type Tree,
  type TreeChange,
  type TreeFile,
} from "../domain/tree.ts";
import { checkPath, linkedPath, treeLimits } from "../domain/tree-path.ts";
import type { BlobStore } from "./blobs.ts";
import { type Entry, foldersAbove, OpenFolder } from "./open-folder.ts";
import { readFile, reasonOf } from "./read-file.ts";

export interface ReadLimits {
  /** Files, folders and all other entries together. */
  readonly maxEntries: number;
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
}

/** Limits for additions by a command. */
const addedLimits = { entries: 20_000, totalBytes: 256 * 1024 * 1024 } as const;

function limitsOver(base: Tree): ReadLimits {
  let bytes = 0;
  for (const file of base.values()) bytes += file.bytes;
  return {
    // Allows for a folder of its own for each file.
    maxEntries: addedLimits.entries + 2 * base.size,
    maxFileBytes: treeLimits.maxFileBytes,
    maxTotalBytes: addedLimits.totalBytes + bytes,
  };
}

/** Names that are never read, at any depth. They belong to tools or to Maestro. */
const ignoredNames: readonly string[] = [".git", "node_modules", ".maestro"];

export const isIgnoredName = (name: string): boolean =>
  ignoredNames.includes(name) || name.startsWith(".maestro-");

export interface Refusal {
  /** Safe to show: without control characters, and bounded. */
  readonly path: string;
  readonly reason: string;
}

interface ReadBack {
  readonly tree: Tree;
  readonly changes: TreeChange[];
  readonly refused: readonly Refusal[];
}

/**
 * The files that a command left in a folder that began as `base`. The command is untrusted: no link is followed,
 * only ordinary files are read, and everything else is listed. For a path that is refused, ignored or not reached,
 * the tree keeps the file of the base.
 */
export async function readBack(
  directory: string,
  base: Tree,
  blobs: BlobStore,
  limits: Partial<ReadLimits> = {},
): Promise<ReadBack> {
  await using root = await OpenFolder.open(directory);
  const scan = new Scan(root, base, blobs, { ...limitsOver(base), ...limits });
  await scan.folder(root, "");
  const tree = scan.result();
  return { tree, changes: changesBetween(base, tree), refused: scan.refused };
}

class Scan {
  readonly refused: Refusal[] = [];
  readonly #root: OpenFolder;
  readonly #base: Tree;
  readonly #blobs: BlobStore;
  readonly #limits: ReadLimits;
  readonly #found = new Map<string, TreeFile>();
  readonly #refusedPaths = new Set<string>();
  #entriesLeft: number;
  #bytesLeft: number;
  #isCut = false;

  constructor(root: OpenFolder, base: Tree, blobs: BlobStore, limits: ReadLimits) {
    this.#root = root;
    this.#base = base;
    this.#blobs = blobs;
    this.#limits = limits;
    this.#entriesLeft = limits.maxEntries;
    this.#bytesLeft = limits.maxTotalBytes;
  }

  async folder(folder: OpenFolder, path: string): Promise<void> {
    for (const entry of await this.#list(folder, path)) {
      if (this.#isCut) return;
      if (this.#entriesLeft === 0) {
        this.#isCut = true;
        this.#refuse(
          path || ".",
          `there are more than ${this.#limits.maxEntries} entries; the rest was not read`,
        );
        return;
      }
      this.#entriesLeft -= 1;
      await this.#entry(folder, path, entry);
    }
  }

  /** The found files. An unreadable file is replaced by the one of the base. */
  result(): Tree {
    const tree = new Map(this.#found);
    const folders = new Set([...this.#found.keys()].flatMap(foldersAbove));
    for (const [path, file] of this.#base) {
      const above = foldersAbove(path);
      const isBlocked = folders.has(path) || above.some((folder) => this.#found.has(folder));
      if (!tree.has(path) && !isBlocked && this.#isUnknown(path, above)) tree.set(path, file);
    }
    return likeTree(this.#base, tree);
  }

  async #entry(folder: OpenFolder, above: string, entry: Entry): Promise<void> {
    const name = decode(entry.name);
    if (name === undefined) {
      this.#refuse(join(above, entry.name.toString()), "its name is not UTF-8");
      return;
    }
    if (isIgnoredName(name)) return;
    const path = join(above, name);
    const reason = this.#base.has(path) ? undefined : pathProblem(path);
    if (reason !== undefined) return this.#refuse(path, reason);
    const kind = entry.kind === "unknown" ? await kindNow(folder, name) : entry.kind;
    if (kind === "link") return this.#link(folder, name, path);
    if (kind === "special") return this.#refuse(path, "it is a device, a pipe or a socket");
    await (kind === "folder" ? this.#inner(folder, name, path) : this.#file(folder, name, path));
  }

  async #inner(folder: OpenFolder, name: string, path: string): Promise<void> {
    await using inner = await this.#open(folder, name, path);
    if (inner === undefined) return;
    if (inner.status.dev !== this.#root.status.dev) return this.#refuse(path, "it is another file system");
    await this.folder(inner, path);
  }

  async #open(folder: OpenFolder, name: string, path: string): Promise<OpenFolder | undefined> {
    try {
      return await folder.folder(name);
    } catch (error) {
      this.#refuse(path, reasonOf(error));
    }
  }

  async #list(folder: OpenFolder, path: string): Promise<Entry[]> {
    try {
      return await folder.list(this.#entriesLeft);
    } catch (error) {
      // An unreadable root is an error: an empty tree would mean that everything was removed.
      if (path === "") throw error;
      this.#refuse(path, reasonOf(error));
      return [];
    }
  }

  async #file(folder: OpenFolder, name: string, path: string): Promise<void> {
    const { maxTotalBytes } = this.#limits;
    const maxFileBytes = Math.max(this.#limits.maxFileBytes, this.#base.get(path)?.bytes ?? 0);
    const reading = await readFile(folder, name, Math.min(maxFileBytes, this.#bytesLeft));
    if (reading.kind === "refused") {
      const isTight = this.#bytesLeft < maxFileBytes;
      return this.#refuse(path, reading.reason + (isTight ? ` (of ${maxTotalBytes} for all files)` : ""));
    }
    await this.#take(path, reading.content, reading.mode);
  }

  /** A link stays a link. One that leads out of the tree is accepted only if the base had it. */
  async #link(folder: OpenFolder, name: string, path: string): Promise<void> {
    let target: Buffer;
    try {
      target = await folder.readLink(name);
    } catch (error) {
      return this.#refuse(path, reasonOf(error));
    }
    const before = this.#base.get(path);
    const isAsBefore = before?.mode === "link" && before.sha256 === sha256(target);
    if (!isAsBefore && linkedPath(path, decode(target) ?? "") === undefined)
      return this.#refuse(path, "it is a symbolic link that leads out of the workspace");
    await this.#take(path, target, "link");
  }

  async #take(path: string, content: Buffer, mode: FileMode): Promise<void> {
    this.#bytesLeft -= content.length;
    const hash = sha256(content);
    if (this.#base.get(path)?.sha256 !== hash) await this.#blobs.put(content);
    this.#found.set(path, { sha256: hash, bytes: content.length, mode });
  }

  #refuse(path: string, reason: string): void {
    this.#refusedPaths.add(path);
    this.refused.push({ path: printable(path), reason });
  }

  #isUnknown(path: string, above: readonly string[]): boolean {
    return (
      this.#isCut ||
      [path, ...above].some((part) => this.#refusedPaths.has(part)) ||
      path.split("/").some(isIgnoredName)
    );
  }
}

const join = (above: string, name: string): string => (above === "" ? name : `${above}/${name}`);

function decode(name: Buffer): string | undefined {
  const text = name.toString("utf8");
  return Buffer.from(text).equals(name) ? text : undefined;
}

/** Normalizing a path to another spelling could merge two files into one. */
function pathProblem(path: string): string | undefined {
  try {
    return checkPath(path) === path ? undefined : "it has another spelling";
  } catch (error) {
    if (InputInvalid.is(error)) return error.message;
    throw error;
  }
}

async function kindNow(folder: OpenFolder, name: string): Promise<"folder" | "file" | "link"> {
  try {
    const status = await folder.statusOf(name);
    return status.isSymbolicLink() ? "link" : status.isDirectory() ? "folder" : "file";
  } catch {
    return "file";
  }
}

const printable = (path: string): string =>
  path
    .slice(0, 300)
    .replace(/\p{C}/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
