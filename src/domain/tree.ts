import { sha256 } from "./canonical.ts";
import { ArtifactCorrupt, InputInvalid } from "./errors.ts";
import { type Json, parseJson } from "./json.ts";
import { checkPath, foldPath, showPath, treeLimits } from "./tree-path.ts";

/** One file of a tree; its bytes are in the artifact store, under their hash. */
export interface TreeFile {
  readonly sha256: string;
  readonly bytes: number;
  readonly executable: boolean;
}

/** The files a persona or a phase left, by path relative to the root, with "/" between names. */
export type Tree = ReadonlyMap<string, TreeFile>;

/** The change of one path; `after` is missing when the file was removed. */
export interface TreeChange {
  readonly path: string;
  readonly after?: TreeFile;
}

export const emptyTree: Tree = new Map();

/** A tree as text: one form only, so that equal trees have equal hashes. */
export function toManifest(tree: Tree): string {
  return JSON.stringify(
    [...tree]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, { sha256, bytes, executable }]) => [path, sha256, bytes, executable ? 1 : 0]),
  );
}

/** Accepts exactly what toManifest writes for a tree within its limits; anything else is damaged. */
export function fromManifest(text: string): Tree {
  const tree = readManifest(text);
  if (toManifest(tree) !== text) throw damaged("it is not in the one form that manifests have");
  return tree;
}

/** The hash of the manifest, which is also where the artifact store keeps it. */
export function treeHash(tree: Tree): string {
  return sha256(toManifest(tree));
}

/** Known without a store, and in none: a team that makes no files needs none. */
export const emptyTreeHash: string = treeHash(emptyTree);

export function changesBetween(before: Tree, after: Tree): TreeChange[] {
  const changes: TreeChange[] = [];
  for (const [path, file] of after)
    if (!sameFile(before.get(path), file)) changes.push({ path, after: file });
  for (const path of before.keys()) if (!after.has(path)) changes.push({ path });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

export function withChanges(tree: Tree, changes: readonly TreeChange[]): Tree {
  const changed = new Map(tree);
  for (const { path, after } of changes) {
    if (after === undefined) changed.delete(path);
    else changed.set(path, after);
  }
  return changed;
}

export function sameFile(a: TreeFile | undefined, b: TreeFile | undefined): boolean {
  return a?.sha256 === b?.sha256 && a?.executable === b?.executable;
}

const hashForm = /^[0-9a-f]{64}$/;

function readManifest(text: string): Tree {
  const rows = parseRows(text);
  if (rows.length > treeLimits.maxFiles) throw damaged(`it has more than ${treeLimits.maxFiles} files`);
  const tree = new Map<string, TreeFile>();
  const paths = new PathIndex();
  let bytes = 0;
  for (const row of rows) {
    const [path, file] = readRow(row);
    const clash = paths.clash(path);
    if (clash !== undefined) throw damaged(`${showPath(path)} clashes with ${showPath(clash.other)}`);
    bytes += file.bytes;
    if (bytes > treeLimits.maxTreeBytes) throw damaged(`it has more than ${treeLimits.maxTreeBytes} bytes`);
    if (tree.has(path)) throw damaged(`it has ${showPath(path)} twice`);
    tree.set(path, file);
    paths.add(path);
  }
  return tree;
}

function parseRows(text: string): readonly Json[] {
  try {
    const rows = parseJson(text, { what: "the manifest", maxDepth: 2 });
    if (Array.isArray(rows)) return rows;
  } catch (cause) {
    throw damaged("it is not JSON of the right size", cause);
  }
  throw damaged("it is not a list");
}

function readRow(row: Json): readonly [string, TreeFile] {
  if (!Array.isArray(row) || row.length !== 4) throw damaged("a row does not have four fields");
  const [path, hash, bytes, executable] = row as readonly Json[];
  if (typeof path !== "string") throw damaged("a row has no path");
  if (typeof hash !== "string" || !hashForm.test(hash)) throw damaged(`${showPath(path)} has no hash`);
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 0) {
    throw damaged(`${showPath(path)} has no size`);
  }
  if (bytes > treeLimits.maxFileBytes) throw damaged(`${showPath(path)} is over the limit of a file`);
  if (executable !== 0 && executable !== 1) throw damaged(`${showPath(path)} has no mode`);
  return [checkedPath(path), { sha256: hash, bytes, executable: executable === 1 }];
}

function checkedPath(path: string): string {
  try {
    return checkPath(path);
  } catch (cause) {
    if (InputInvalid.is(cause)) throw damaged(`no tree may hold ${showPath(path)}`, cause);
    throw cause;
  }
}

const damaged = (why: string, cause?: unknown): ArtifactCorrupt =>
  new ArtifactCorrupt(`The manifest of a tree is damaged: ${why}.`, {
    advice: "Restore the artifacts folder from a backup, or fork the session at the phase that made it.",
    cause,
  });

/** Two paths that cannot be in one tree: `other` is the file or folder that is there already. */
export interface PathClash {
  /** `case`: the same but for case or Unicode form, which many disks take for one. */
  readonly kind: "case" | "file-folder";
  readonly other: string;
}

interface Entry {
  readonly spelling: string;
  readonly isFile: boolean;
  /** How many files it is or holds. */
  files: number;
}

/** The files and folders of a tree, to see in a moment what a new path would clash with. */
export class PathIndex {
  readonly #entries = new Map<string, Entry>();

  constructor(paths: Iterable<string> = []) {
    for (const path of paths) this.add(path);
  }

  clash(path: string): PathClash | undefined {
    for (const [key, spelling] of ancestry(path)) {
      const entry = this.#entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.spelling !== spelling) return { kind: "case", other: entry.spelling };
      if (entry.isFile !== (spelling === path)) return { kind: "file-folder", other: entry.spelling };
    }
    return undefined;
  }

  /** Only a path that does not clash and is not there yet. */
  add(path: string): void {
    for (const [key, spelling] of ancestry(path)) {
      const entry = this.#entries.get(key);
      if (entry === undefined) this.#entries.set(key, { spelling, isFile: spelling === path, files: 1 });
      else entry.files += 1;
    }
  }

  /** Only a path that is there. */
  remove(path: string): void {
    for (const [key] of ancestry(path)) {
      const entry = this.#entries.get(key);
      if (entry === undefined) continue;
      entry.files -= 1;
      if (entry.files === 0) this.#entries.delete(key);
    }
  }
}

/** The folders of a path from the outermost on, and the path itself: folded, and as it is spelled. */
function ancestry(path: string): (readonly [key: string, spelling: string])[] {
  const folded = foldPath(path);
  const found: (readonly [string, string])[] = [];
  let [at, foldedAt] = [0, 0];
  for (;;) {
    at = path.indexOf("/", at);
    foldedAt = folded.indexOf("/", foldedAt);
    if (at === -1) break;
    found.push([folded.slice(0, foldedAt), path.slice(0, at)]);
    at += 1;
    foldedAt += 1;
  }
  found.push([folded, path]);
  return found;
}
