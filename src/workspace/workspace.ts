import { sha256 } from "../domain/canonical.ts";
import { InputInvalid } from "../domain/errors.ts";
import { sameFile, type Tree, type TreeChange, type TreeFile, treeHash } from "../domain/tree.ts";
import { checkPath, isInstalled, linkedPath, showPath, treeLimits } from "../domain/tree-path.ts";
import { type BlobStore, FreshBlobs } from "./blobs.ts";
import { applyEdits, type Edit, type EditReport } from "./edit.ts";
import { globMatcher } from "./glob.ts";
import { missingFile } from "./read-file.ts";
import { type Recording, Recordings } from "./recordings.ts";
import { type SearchMatch, searchFiles, searchPattern } from "./search.ts";
import { storedHash, storeTree } from "./stored-tree.ts";
import { type EncodedText, encodedLike, readEncoded } from "./text.ts";
import { refusedFile, WorkingTree } from "./working-tree.ts";

export type { BlobStore } from "./blobs.ts";
export { loadTree, storeTree } from "./stored-tree.ts";

const maxLinkHops = 16;

interface WriteOptions {
  /** Default: unchanged; false for a new file. */
  readonly executable?: boolean | undefined;
}

interface SavedTree {
  /** Hash of the manifest, for loading the tree. */
  readonly tree: string;
  /** Hashes that the journal row of the tree must reference: the manifest, and the blobs that the base lacks. */
  readonly artifacts: readonly string[];
}

/**
 * The files that a persona works on, in memory over a blob store. Touches no folder of the disk, so no path can
 * lead out. An unused workspace costs nothing.
 */
export class Workspace {
  readonly #blobs: BlobStore;
  readonly #base: Tree;
  readonly #files: WorkingTree;
  readonly #fresh: FreshBlobs;
  /** Records which effect made which change. */
  readonly recordings = new Recordings((recording) => this.#takeBack(recording));
  #hash: string | undefined;
  #baseBlobs: ReadonlySet<string> | undefined;

  /** The blobs of the base must be in the store. */
  constructor(blobs: BlobStore, base: Tree) {
    this.#blobs = blobs;
    this.#base = base;
    this.#files = new WorkingTree(base);
    this.#fresh = new FreshBlobs(blobs);
  }

  /** The current files. Later changes do not affect it. */
  get tree(): Tree {
    return this.#files.snapshot;
  }

  get hash(): string {
    this.#hash ??= storedHash(this.#blobs, this.tree) ?? treeHash(this.tree);
    return this.#hash;
  }

  async read(path: string): Promise<Buffer> {
    return this.#fresh.get((await this.#behindLinks(this.#checked(path))).sha256);
  }

  async readText(path: string): Promise<string> {
    return (await this.#encoded(path)).text;
  }

  /** The change is visible when the call returns. Awaiting it waits for room in memory. */
  async write(path: string, content: string | Uint8Array, options: WriteOptions = {}): Promise<void> {
    const checked = this.#checked(path);
    const bytes = Buffer.byteLength(content);
    if (bytes > treeLimits.maxFileBytes) {
      throw new InputInvalid(
        `${showPath(checked)} would have ${bytes} bytes; the limit of a file is ${treeLimits.maxFileBytes}.`,
        { advice: "Split it into several files.", details: { path: checked, bytes } },
      );
    }
    if (this.#files.get(checked)?.mode === "link")
      throw new InputInvalid(`${showPath(checked)} is a symbolic link.`, {
        advice: "Write the file that it leads to, or remove the link first.",
        details: { path: checked },
      });
    this.recordings.refuseLateChange();
    const copy = Buffer.from(content);
    const executable = options.executable ?? this.#files.get(checked)?.mode === "executable";
    const mode = executable ? "executable" : "file";
    const file = { sha256: sha256(copy), bytes, mode } as const;
    if (this.#set(checked, file)) await this.#fresh.add(file.sha256, copy);
  }

  /**
   * Keeps the encoding and byte order mark of an existing file, if the encoding has the characters; otherwise
   * UTF-8.
   */
  async writeText(path: string, text: string): Promise<void> {
    const checked = this.#checked(path);
    const file = this.#files.get(checked);
    const before = file && readEncoded(await this.#fresh.get(file.sha256));
    await this.write(checked, before === undefined ? text : encodedLike(before, text));
  }

  async remove(path: string): Promise<void> {
    const checked = this.#checked(path);
    this.#file(checked);
    this.recordings.refuseLateChange();
    this.#delete(checked);
  }

  /** Never replaces an existing file. Another case of the same name is a new name. */
  async move(from: string, to: string): Promise<void> {
    const [source, target] = [this.#checked(from), this.#checked(to)];
    const file = this.#file(source);
    if (this.#files.get(target) !== undefined)
      throw new InputInvalid(`${showPath(source)} was not moved: ${showPath(target)} is there already.`, {
        advice: "Move it to another path, or delete that file first.",
        details: { path: target },
      });
    this.recordings.refuseLateChange();
    this.#delete(source);
    try {
      this.#set(target, file);
    } catch (error) {
      this.#set(source, file);
      throw error;
    }
  }

  /** Applies all edits or none; see applyEdits for how they match. */
  async edit(path: string, edits: readonly Edit[]): Promise<EditReport> {
    const checked = this.#checked(path);
    for (;;) {
      const before = this.#file(checked);
      const { text, encoding, encode } = await this.#encoded(checked);
      const outcome = applyEdits(text, edits);
      // Another writer came first: apply the edits to its content, so that neither change is lost.
      if (!sameFile(this.#files.get(checked), before)) continue;
      if (outcome.kind === "refused") {
        throw new InputInvalid(`${showPath(checked)} was not changed: ${outcome.message}`, {
          advice: outcome.advice,
          details: { path: checked, edit: outcome.edit, reason: outcome.reason },
        });
      }
      const bytes = encode(outcome.text);
      if (bytes === undefined) {
        throw new InputInvalid(
          `${showPath(checked)} was not changed: it is in ${encoding}, which has not all of these characters.`,
          { advice: `Use only characters of ${encoding}.`, details: { path: checked, encoding } },
        );
      }
      await this.write(checked, bytes);
      return outcome.report;
    }
  }

  /** Sorted. Leaves out installed packages, unless the glob names `node_modules`. */
  list(glob?: string): readonly string[] {
    const all = [...this.#files.paths()].sort();
    const paths = glob?.includes("node_modules") ? all : all.filter((path) => !isInstalled(path));
    return glob === undefined ? paths : paths.filter(globMatcher(glob));
  }

  /**
   * Lines that contain the text, or that match if the pattern is written as /expression/. At most
   * `searchLimits.maxMatches`.
   */
  async search(pattern: string, glob?: string): Promise<readonly SearchMatch[]> {
    const wanted = await searchPattern(pattern);
    return searchFiles(wanted, this.list(glob), async (path) => {
      const file = this.#files.get(path);
      return file === undefined ? undefined : readEncoded(await this.#fresh.get(file.sha256))?.text;
    });
  }

  /** Refuses every later change by the work, because other personas then have the files. */
  lend<T>(work: () => Promise<T>): Promise<T> {
    return this.recordings.lend(work);
  }

  /** Applies a recorded step's changes, whose blobs are in the store. Idempotent. */
  reapply(changes: readonly TreeChange[]): void {
    this.recordings.refuseLateChange();
    for (const { path, after } of changes) if (after === undefined) this.#delete(this.#checked(path));
    for (const { path, after } of changes) if (after !== undefined) this.#set(this.#checked(path), after);
  }

  /** Makes all files and their manifest durable. */
  async save(): Promise<SavedTree> {
    const { tree } = this;
    if (tree.size === 0) return { tree: this.hash, artifacts: [] };
    const blobs = tree === this.#base ? [] : this.#newBlobs(tree.values());
    // Blobs first, so that a manifest never names a missing blob.
    await this.#fresh.flush(blobs);
    const hash = await storeTree(this.#blobs, tree);
    return { tree: hash, artifacts: [hash, ...blobs] };
  }

  /** Makes the blobs of these changes durable. A journal row that names the changes must reference them. */
  async flush(changes: readonly TreeChange[]): Promise<readonly string[]> {
    const files = changes.flatMap(({ after }) => (after === undefined ? [] : [after]));
    const blobs = this.#newBlobs(files);
    await this.#fresh.flush(blobs);
    return blobs;
  }

  async #encoded(path: string): Promise<EncodedText> {
    const found = readEncoded(await this.read(path));
    if (found !== undefined) return found;
    throw new InputInvalid(`${showPath(path)} is not a text in UTF-8, UTF-16 or windows-1252.`, {
      advice:
        "It cannot be read or edited as text. Written as a whole it becomes UTF-8: do that only where its readers expect UTF-8.",
      details: { path },
    });
  }

  /** A path of the base may have a name that new files may not have. */
  #checked(path: string): string {
    return this.#files.get(path) === undefined && !this.#base.has(path) ? checkPath(path) : path;
  }

  /** The file that a link leads to, if it is in the workspace. */
  async #behindLinks(path: string): Promise<TreeFile> {
    let [at, file] = [path, this.#file(path)];
    for (let hops = 0; file.mode === "link"; hops += 1) {
      const target = (await this.#fresh.get(file.sha256)).toString();
      const next = linkedPath(at, target);
      if (next === undefined || hops === maxLinkHops)
        throw new InputInvalid(`${showPath(path)} is a symbolic link that leads out of the workspace.`, {
          advice: "Use files of the workspace only.",
          details: { path },
        });
      [at, file] = [next, this.#file(next)];
    }
    return file;
  }

  #file(path: string): TreeFile {
    const file = this.#files.get(path);
    if (file === undefined) throw missingFile(path, this.tree);
    return file;
  }

  #takeBack({ touched }: Recording): void {
    const mine = [...touched].filter(([path, { after }]) => sameFile(this.#files.get(path), after));
    for (const [path, { before }] of mine) if (before === undefined) this.#delete(path);
    for (const [path, { before }] of mine) {
      // Another writer may have created a file at this path.
      if (before !== undefined && this.#files.problemOf(path, before) === undefined) this.#set(path, before);
    }
  }

  #set(path: string, file: TreeFile): boolean {
    const before = this.#files.get(path);
    if (sameFile(before, file)) return false;
    const problem = this.#files.problemOf(path, file);
    if (problem !== undefined) throw refusedFile(path, problem);
    this.#files.set(path, file);
    this.#changed(path, before, file);
    return true;
  }

  #delete(path: string): void {
    const before = this.#files.get(path);
    if (before === undefined) return;
    this.#files.delete(path);
    this.#changed(path, before, undefined);
  }

  #changed(path: string, before: TreeFile | undefined, after: TreeFile | undefined): void {
    this.#hash = undefined;
    this.recordings.note(path, before, after);
  }

  /** The base's blobs are already in the store and referenced. */
  #newBlobs(files: Iterable<TreeFile>): string[] {
    this.#baseBlobs ??= new Set(Array.from(this.#base.values(), ({ sha256 }) => sha256));
    const known = this.#baseBlobs;
    const hashes = new Set(Array.from(files, ({ sha256 }) => sha256));
    return [...hashes].filter((hash) => !known.has(hash)).sort();
  }
}
