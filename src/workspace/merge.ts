import { sha256 } from "../domain/canonical.ts";
import { changesBetween, sameFile, type Tree, type TreeFile } from "../domain/tree.ts";
import { treeLimits } from "../domain/tree-path.ts";
import type { BlobStore } from "./blobs.ts";
import type { Conflict, ConflictKind } from "./conflict.ts";
import { cutLine, decodeText, splitLines } from "./text.ts";
import { type LineRange, mergeLines } from "./text-merge.ts";
import { type TreeProblem, WorkingTree } from "./working-tree.ts";

interface TreesToMerge {
  readonly base: Tree;
  /** The merge so far. It wins where both sides changed the same lines. */
  readonly ours: Tree;
  readonly theirs: Tree;
  readonly blobs: BlobStore;
}

export interface MergedTree {
  readonly tree: Tree;
  /** Blobs of merged texts that are in neither side. They are durable, and a journal row must reference them. */
  readonly artifacts: readonly string[];
  readonly conflicts: readonly Conflict[];
}

const maxRanges = 10;
const maxExcerpts = 50;
const maxExcerptLines = 8;

/** Merges three ways: changes of one side are taken, changes of both are merged by lines, the rest are conflicts. */
export async function mergeTrees(trees: TreesToMerge): Promise<MergedTree> {
  const merge = new TreeMerge(trees);
  const changes = changesBetween(trees.base, trees.theirs);
  // Removals first: they make room for a folder of the same name, or for another spelling.
  for (const { path, after } of changes) if (after === undefined) merge.remove(path);
  for (const { path, after } of changes) if (after !== undefined) await merge.set(path, after);
  return merge.result();
}

interface Versions {
  readonly base: TreeFile | undefined;
  readonly ours: TreeFile | undefined;
  readonly theirs: TreeFile | undefined;
}

class TreeMerge {
  readonly #trees: TreesToMerge;
  readonly #merged: WorkingTree;
  readonly #artifacts = new Set<string>();
  readonly #conflicts: Conflict[] = [];

  constructor(trees: TreesToMerge) {
    this.#trees = trees;
    this.#merged = new WorkingTree(trees.ours);
  }

  result(): MergedTree {
    const conflicts = this.#conflicts.sort((a, b) => (a.path < b.path ? -1 : 1));
    return { tree: this.#merged.snapshot, artifacts: [...this.#artifacts].sort(), conflicts };
  }

  remove(path: string): void {
    const versions = this.#versions(path);
    if (versions.ours === undefined) return;
    if (sameFile(versions.base, versions.ours)) this.#merged.delete(path);
    else this.#refuse(path, "modify-delete", versions);
  }

  async set(path: string, theirs: TreeFile): Promise<void> {
    const versions = this.#versions(path);
    const { base, ours } = versions;
    if (sameFile(ours, theirs)) return;
    if (sameFile(ours, base)) this.#put(path, theirs, versions);
    else if (ours === undefined) this.#refuse(path, "modify-delete", versions);
    else if (base === undefined) await this.#bothAdded(path, ours, theirs, versions);
    else await this.#bothChanged(path, { base, ours, theirs });
  }

  async #bothAdded(path: string, ours: TreeFile, theirs: TreeFile, versions: Versions): Promise<void> {
    if (ours.sha256 === theirs.sha256) this.#refuse(path, "mode", versions);
    else {
      const [mine, yours] = [await this.#lines(ours), await this.#lines(theirs)];
      this.#refuse(path, "add-add", versions, mine && yours && { excerpt: excerptsOf(mine, yours) });
    }
  }

  async #bothChanged(path: string, versions: Required<{ [Key in keyof Versions]: TreeFile }>): Promise<void> {
    const { base, ours, theirs } = versions;
    const mode = ours.mode === base.mode ? theirs.mode : ours.mode;
    if (isLink(versions)) return this.#refuse(path, "binary", versions);
    const changed = ours.sha256 === base.sha256 ? theirs : ours;
    if (ours.sha256 === theirs.sha256 || ours.sha256 === base.sha256 || theirs.sha256 === base.sha256) {
      this.#put(path, { ...changed, mode }, versions);
      return;
    }
    const [before, mine, yours] = [
      await this.#lines(base),
      await this.#lines(ours),
      await this.#lines(theirs),
    ];
    if (before === undefined || mine === undefined || yours === undefined) {
      return this.#refuse(path, "binary", versions);
    }
    const { lines, conflicts } = mergeLines(before, mine, yours);
    const [first] = conflicts;
    if (first !== undefined) {
      const excerpt = excerptsOf(part(mine, first.ours), part(yours, first.theirs));
      return this.#refuse(path, "content", versions, { lines: conflicts.slice(0, maxRanges), excerpt });
    }
    const content = Buffer.from(lines.join(""));
    if (content.length > treeLimits.maxFileBytes) return this.#refuse(path, "limit", versions);
    const file = { sha256: sha256(content), bytes: content.length, mode };
    if (this.#put(path, file, versions) && file.sha256 !== ours.sha256 && file.sha256 !== theirs.sha256) {
      this.#artifacts.add(await this.#trees.blobs.put(content));
    }
  }

  #put(path: string, file: TreeFile, versions: Versions): boolean {
    const problem = this.#merged.problemOf(path, file);
    if (problem === undefined) this.#merged.set(path, file);
    else this.#refuse(path, kindOf(problem), versions, "other" in problem ? { other: problem.other } : {});
    return problem === undefined;
  }

  #refuse(
    path: string,
    kind: ConflictKind,
    versions: Versions,
    more: Partial<Conflict> | undefined = {},
  ): void {
    const { excerpt, ...rest } = more;
    this.#conflicts.push({
      path,
      kind,
      ...(versions.base && { base: versions.base.sha256 }),
      ...(versions.ours && { ours: versions.ours.sha256 }),
      ...(versions.theirs && { theirs: versions.theirs.sha256 }),
      ...rest,
      ...(excerpt !== undefined && this.#conflicts.length < maxExcerpts && { excerpt }),
    });
  }

  #versions(path: string): Versions {
    const { base, ours, theirs } = this.#trees;
    return { base: base.get(path), ours: ours.get(path), theirs: theirs.get(path) };
  }

  async #lines(file: TreeFile): Promise<readonly string[] | undefined> {
    const text = decodeText(await this.#trees.blobs.get(file.sha256));
    return text === undefined ? undefined : splitLines(text);
  }
}

/** The target of a link is not merged, and a link never becomes a file. */
const isLink = (versions: Versions): boolean =>
  Object.values(versions).some((file: TreeFile | undefined) => file?.mode === "link");

const kindOf = ({ kind }: TreeProblem): ConflictKind =>
  kind === "file" || kind === "files" || kind === "bytes" ? "limit" : kind;

const part = (lines: readonly string[], [from, to]: LineRange): readonly string[] =>
  lines.slice(from - 1, to);

const excerptsOf = (ours: readonly string[], theirs: readonly string[]) => ({
  ours: excerptOf(ours),
  theirs: excerptOf(theirs),
});

function excerptOf(lines: readonly string[]): string {
  const shown = lines.slice(0, maxExcerptLines).map((line) => cutLine(line));
  return [...shown, ...(lines.length > maxExcerptLines ? ["…"] : [])].join("\n");
}
