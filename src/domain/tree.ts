import { sha256 } from "./canonical.ts";
import { ArtifactCorrupt, InputInvalid } from "./errors.ts";
import { type Json, parseJson } from "./json.ts";
import { baseLimits, checkBasePath, checkPath, foldPath, showPath, treeLimits } from "./tree-path.ts";

/** In the order of their numbers in a manifest. The content of a link is its target. */
const fileModes = ["file", "executable", "link"] as const;
export type FileMode = (typeof fileModes)[number];

/** One file of a tree. Its bytes are in the artifact store under their hash. */
export interface TreeFile {
  readonly sha256: string;
  readonly bytes: number;
  readonly mode: FileMode;
}

/** The files of a persona or phase, by path relative to the root, with "/" between names. */
export type Tree = ReadonlyMap<string, TreeFile>;

/** A session's initial files, such as those of a repository: many, and most of them never change. */
export interface BaseTree {
  /** The hash of its manifest. */
  readonly hash: string;
  readonly files: Tree;
}

/**
 * A base and the changes since. Its manifest names the base by hash, so that a tree over 100,000 files is stored,
 * hashed and compared in time proportional to its changes. Equal trees over one base have equal manifests.
 */
export class LayeredTree implements Tree {
  readonly base: BaseTree;
  readonly #changes: Map<string, TreeFile | undefined>;
  #size: number;

  constructor(base: BaseTree, changes: Iterable<readonly [string, TreeFile | undefined]> = []) {
    this.base = base;
    this.#changes = new Map();
    this.#size = base.files.size;
    for (const [path, file] of changes) this.#change(path, file);
  }

  /** A removed file is undefined. */
  get changes(): ReadonlyMap<string, TreeFile | undefined> {
    return this.#changes;
  }

  get size(): number {
    return this.#size;
  }

  get(path: string): TreeFile | undefined {
    return this.#changes.has(path) ? this.#changes.get(path) : this.base.files.get(path);
  }

  has(path: string): boolean {
    return this.get(path) !== undefined;
  }

  *entries(): MapIterator<[string, TreeFile]> {
    for (const [path, file] of this.base.files) if (!this.#changes.has(path)) yield [path, file];
    for (const [path, file] of this.#changes) if (file !== undefined) yield [path, file];
  }

  *keys(): MapIterator<string> {
    for (const [path] of this.entries()) yield path;
  }

  *values(): MapIterator<TreeFile> {
    for (const [, file] of this.entries()) yield file;
  }

  [Symbol.iterator](): MapIterator<[string, TreeFile]> {
    return this.entries();
  }

  forEach(visit: (file: TreeFile, path: string, tree: Tree) => void): void {
    for (const [path, file] of this) visit(file, path, this);
  }

  /** Only before the tree is shared. */
  set(path: string, file: TreeFile): void {
    this.#change(path, file);
  }

  /** Only before the tree is shared. */
  delete(path: string): void {
    this.#change(path, undefined);
  }

  #change(path: string, file: TreeFile | undefined): void {
    this.#size += Number(file !== undefined) - Number(this.has(path));
    if (sameFile(this.base.files.get(path), file)) this.#changes.delete(path);
    else this.#changes.set(path, file);
  }
}

/** A mutable copy. The original stays unchanged. */
export const editable = (tree: Tree): Map<string, TreeFile> | LayeredTree =>
  tree instanceof LayeredTree ? new LayeredTree(tree.base, tree.changes) : new Map(tree);

/** The change of one path. `after` is missing if the file was removed. */
export interface TreeChange {
  readonly path: string;
  readonly after?: TreeFile;
}

export const emptyTree: Tree = new Map();

/** These files as a tree over the base of another tree, if that has one. */
export function likeTree(like: Tree, files: Tree): Tree {
  if (!(like instanceof LayeredTree)) return files;
  const tree = new LayeredTree(like.base, files);
  for (const path of like.base.files.keys()) if (!files.has(path)) tree.delete(path);
  return tree;
}

/**
 * A tree as text in a single form, so that equal trees have equal hashes. A list of rows is a tree of its own.
 * `files` are those of a base, and `changes` those of a tree over the named base.
 */
export function toManifest(tree: Tree): string {
  if (!(tree instanceof LayeredTree)) return JSON.stringify(rowsOf(tree));
  const { base, changes } = tree;
  return changes.size === 0
    ? JSON.stringify({ files: rowsOf(base.files) })
    : JSON.stringify({ base: base.hash, changes: rowsOf(changes) });
}

/** Files as a base for later trees. */
export const baseTree = (files: Tree): LayeredTree =>
  new LayeredTree({ hash: sha256(JSON.stringify({ files: rowsOf(files) })), files });

const rowsOf = (files: ReadonlyMap<string, TreeFile | undefined>): readonly Json[] =>
  [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, file]) =>
      file === undefined ? [path] : [path, file.sha256, file.bytes, fileModes.indexOf(file.mode)],
    );

/** The hash of the base that must be read before this manifest. */
export const baseHashOf = (text: string): string | undefined => /^\{"base":"([0-9a-f]{64})"/.exec(text)?.[1];

/** Accepts exactly the output of toManifest for a tree within its limits. Anything else is damaged. */
export function fromManifest(text: string, base: Tree = emptyTree): Tree {
  const rows = parseRows(text);
  const under = baseHashOf(text);
  const isBase = under === undefined && text.startsWith("{");
  const tree = addRows(rows, under === undefined ? new Map() : layersOver(base, under), {
    ...(text.startsWith("[") ? treeLimits : baseLimits),
    checkPath: isBase ? checkBasePath : checkPath,
  });
  const read = isBase ? baseTree(tree) : tree;
  if (toManifest(read) !== text) throw damaged("it is not in the one form that manifests have");
  return read;
}

function layersOver(base: Tree, hash: string): LayeredTree {
  if (base instanceof LayeredTree && base.base.hash === hash) return new LayeredTree(base.base);
  throw damaged("its base is not the one that it names");
}

function parseRows(text: string): readonly Json[] {
  let parsed: Json;
  try {
    parsed = parseJson(text, { what: "the manifest", maxDepth: 3, maxBytes: maxManifestBytes });
  } catch (cause) {
    throw damaged("it is not JSON of the right size", cause);
  }
  const { files, changes } = (parsed ?? {}) as { readonly files?: Json; readonly changes?: Json };
  const rows = Array.isArray(parsed) ? parsed : (files ?? changes);
  if (Array.isArray(rows)) return rows;
  throw damaged("it is not a list");
}

/** The hashes in a manifest: those of its files and of its base. Undefined for a text that is no manifest. */
export function hashesIn(text: string): readonly string[] | undefined {
  if (!/^(?:\[\[|\{"base":|\{"files":)/.test(text)) return undefined;
  try {
    const base = baseHashOf(text);
    const files = parseRows(text)
      .map(readRow)
      .flatMap(([, file]) => (file === undefined ? [] : [file.sha256]));
    return base === undefined ? files : [base, ...files];
  } catch (error) {
    if (ArtifactCorrupt.is(error)) return undefined;
    throw error;
  }
}

/** The hash of the manifest, under which the artifact store keeps it. */
export function treeHash(tree: Tree): string {
  if (tree instanceof LayeredTree && tree.changes.size === 0) return tree.base.hash;
  return sha256(toManifest(tree));
}

/** Known without a store and stored nowhere, because a team without files needs none. */
export const emptyTreeHash: string = treeHash(emptyTree);

export function changesBetween(before: Tree, after: Tree): TreeChange[] {
  const changes: TreeChange[] = [];
  for (const path of pathsToCompare(before, after)) {
    const file = after.get(path);
    if (!sameFile(before.get(path), file)) changes.push({ path, ...(file !== undefined && { after: file }) });
  }
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Over one base, only changed paths can differ. */
function pathsToCompare(before: Tree, after: Tree): ReadonlySet<string> {
  const isLayered = before instanceof LayeredTree && after instanceof LayeredTree;
  if (isLayered && before.base.hash === after.base.hash)
    return new Set([...before.changes.keys(), ...after.changes.keys()]);
  return new Set([...before.keys(), ...after.keys()]);
}

export function withChanges(tree: Tree, changes: readonly TreeChange[]): Tree {
  const changed = editable(tree);
  for (const { path, after } of changes) {
    if (after === undefined) changed.delete(path);
    else changed.set(path, after);
  }
  return changed;
}

export function sameFile(a: TreeFile | undefined, b: TreeFile | undefined): boolean {
  return a?.sha256 === b?.sha256 && a?.mode === b?.mode;
}

/** The manifest of a tree with the maximum number of files, at 200 bytes per row. */
const maxManifestBytes = baseLimits.maxFiles * 200;
const hashForm = /^[0-9a-f]{64}$/;

interface RowRules {
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly maxTreeBytes: number;
  /** Checks a path that the base does not have. */
  readonly checkPath: (path: string) => string;
}

/** Adds rows to an empty tree, or to one over its base without changes. */
function addRows(rows: readonly Json[], tree: Map<string, TreeFile> | LayeredTree, rules: RowRules): Tree {
  if (rows.length > rules.maxFiles) throw damaged(`it has more than ${rules.maxFiles} files`);
  const read = rows.map(readRow);
  const isLayered = tree instanceof LayeredTree;
  // Removals first: they make room for a folder of the same name, or for another spelling.
  for (const [path, file] of read) {
    if (file !== undefined) continue;
    if (!isLayered || !tree.has(path)) throw damaged(`it removes ${showPath(path)}, which is not there`);
    tree.delete(path);
  }
  const paths = new PathIndex(tree.keys());
  let bytes = 0;
  for (const { bytes: size } of tree.values()) bytes += size;
  for (const [path, file] of read) {
    if (file === undefined) continue;
    const before = tree.get(path);
    if (before !== undefined && !isLayered) throw damaged(`it has ${showPath(path)} twice`);
    if (before === undefined) addPath(path, paths, rules);
    bytes += file.bytes - (before?.bytes ?? 0);
    if (bytes > rules.maxTreeBytes) throw damaged(`it has more than ${rules.maxTreeBytes} bytes`);
    if (file.bytes > rules.maxFileBytes) throw damaged(`${showPath(path)} is over the limit of a file`);
    tree.set(path, file);
  }
  return tree;
}

/** A row with only a path removes the file. */
function readRow(row: Json): readonly [string, TreeFile | undefined] {
  if (!Array.isArray(row) || (row.length !== 4 && row.length !== 1))
    throw damaged("a row does not have four fields");
  const [path, hash, bytes, number] = row as readonly Json[];
  if (typeof path !== "string") throw damaged("a row has no path");
  if (row.length === 1) return [path, undefined];
  if (typeof hash !== "string" || !hashForm.test(hash)) throw damaged(`${showPath(path)} has no hash`);
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 0) {
    throw damaged(`${showPath(path)} has no size`);
  }
  const mode = typeof number === "number" ? fileModes[number] : undefined;
  if (mode === undefined) throw damaged(`${showPath(path)} has no mode`);
  return [path, { sha256: hash, bytes, mode }];
}

function addPath(path: string, paths: PathIndex, { checkPath }: RowRules): void {
  try {
    if (checkPath(path) !== path) throw damaged(`${showPath(path)} is not in its normalized spelling`);
  } catch (cause) {
    if (InputInvalid.is(cause)) throw damaged(`no tree may hold ${showPath(path)}`, cause);
    throw cause;
  }
  const clash = paths.clash(path);
  if (clash !== undefined) throw damaged(`${showPath(path)} clashes with ${showPath(clash.other)}`);
  paths.add(path);
}

const damaged = (why: string, cause?: unknown): ArtifactCorrupt =>
  new ArtifactCorrupt(`The manifest of a tree is damaged: ${why}.`, {
    advice: "Restore the artifacts folder from a backup, or fork the session at the phase that made it.",
    cause,
  });

/** Two paths that cannot be in one tree. `other` is the existing file or folder. */
export interface PathClash {
  /** `case`: equal except for case or Unicode form, which many disks ignore. */
  readonly kind: "case" | "file-folder";
  readonly other: string;
}

interface Entry {
  readonly spelling: string;
  readonly isFile: boolean;
  /** Number of files that it is or contains. */
  files: number;
}

/** An index of a tree's files and folders that quickly finds what a new path clashes with. */
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

  /** Requires a new path that does not clash. */
  add(path: string): void {
    for (const [key, spelling] of ancestry(path)) {
      const entry = this.#entries.get(key);
      if (entry === undefined) this.#entries.set(key, { spelling, isFile: spelling === path, files: 1 });
      else entry.files += 1;
    }
  }

  /** Requires an existing path. */
  remove(path: string): void {
    for (const [key] of ancestry(path)) {
      const entry = this.#entries.get(key);
      if (entry === undefined) continue;
      entry.files -= 1;
      if (entry.files === 0) this.#entries.delete(key);
    }
  }
}

/** The folders of a path, outermost first, and the path itself: folded, and as spelled. */
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
