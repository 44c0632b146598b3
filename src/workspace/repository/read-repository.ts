import { InputInvalid } from "../../domain/errors.ts";
import { baseTree, type FileMode, type LayeredTree, PathIndex, type TreeFile } from "../../domain/tree.ts";
import { baseLimits, checkBasePath, showPath } from "../../domain/tree-path.ts";
import type { BlobBatch } from "../../store/blobs.ts";
import { namedMatcher } from "../named-files.ts";
import { OpenFolder } from "../open-folder.ts";
import { readFile } from "../read-file.ts";
import { inFolder } from "../stat-no-follow.ts";
import type { Repository } from "./find-repository.ts";
import { GitObjects } from "./git-objects.ts";
import { conversionsOf, dirtyPaths, type LeftOut, listFiles, type TrackedFile } from "./list-files.ts";
import { secretByContent, secretByName } from "./secret-files.ts";

export interface SourceFilter {
  /** Only these files. Empty: all. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Paths that are included although they look like secrets. */
  readonly allow: readonly string[];
  /** Excluded, because only checks get them. */
  readonly checksOnly: readonly string[];
}

export interface SourceFiles {
  readonly tree: LayeredTree;
  readonly leftOut: readonly LeftOut[];
  /** Files of the tree that differ from the commit. */
  readonly dirty: readonly string[];
  /** Files of the tree that look like secrets. */
  readonly restricted: readonly string[];
}

const progressEveryMs = 3_000;

/**
 * The files of a repository as the base of a session. Each content is hashed once and is in memory only while it is
 * stored. Excluded files are listed with the reason and stay unchanged in every delivery.
 */
export async function readRepository(
  repository: Repository,
  filter: SourceFilter,
  batch: BlobBatch,
  onProgress: (text: string) => void = () => undefined,
): Promise<SourceFiles> {
  const listing = await listFiles(repository);
  const { files: chosen, leftOut: notChosen } = choose(listing.files, filter);
  const dirty = new Set(await dirtyPaths(repository, listing.files));
  const conversionOf = await conversionsOf(repository, chosen);
  const isOnDisk = ({ path, tag }: TrackedFile): boolean => {
    if (!repository.isWorkingTree || tag.toUpperCase() === "S" || conversionOf(path) === "filter")
      return false;
    return dirty.has(path) || tag !== "H" || conversionOf(path) === "text";
  };
  const fromGit = chosen.filter((file) => !isOnDisk(file)).map(({ oid }) => oid);
  await using objects = new GitObjects(repository.git, fromGit);
  await using root = repository.isWorkingTree ? await OpenFolder.open(repository.root) : undefined;
  const intake = new Intake(repository.root, filter, batch);
  let said = Date.now();
  for (const [done, file] of chosen.entries()) {
    if (Date.now() - said >= progressEveryMs) {
      said = Date.now();
      onProgress(`Reading the repository: ${done} of ${chosen.length} files.`);
    }
    if (root !== undefined && isOnDisk(file)) await intake.take(file.path, await readOnDisk(root, file.path));
    else await intake.take(file.path, recorded(file, await objects.next(baseLimits.maxFileBytes)));
  }
  const leftOut = [...listing.leftOut, ...notChosen, ...intake.leftOut].sort(byPath);
  const isHome = new Set(leftOut.map(({ path }) => path));
  const isWanted = wantedBy(filter);
  return {
    tree: baseTree(intake.files),
    leftOut,
    // Includes removed files, which are in no listing. Secrets are left out, because only a persona's own commit
    // may contain one.
    dirty: [...dirty]
      .filter((path) => isWanted(path) && !isHome.has(path) && secretByName(path) === undefined)
      .filter((path) => !intake.restricted.has(path)),
    restricted: [...intake.restricted].sort(),
  };
}

/** Stores the files one by one and sums their sizes. */
class Intake {
  readonly files = new Map<string, TreeFile>();
  readonly leftOut: LeftOut[] = [];
  readonly restricted = new Set<string>();
  readonly #root: string;
  readonly #allowed: ReadonlySet<string>;
  readonly #batch: BlobBatch;
  #bytes = 0;

  constructor(root: string, { allow }: SourceFilter, batch: BlobBatch) {
    this.#root = root;
    this.#allowed = new Set(allow);
    this.#batch = batch;
  }

  async take(path: string, read: Read): Promise<void> {
    switch (read.kind) {
      case "absent":
        return;
      case "left-out":
        this.leftOut.push({ path, reason: read.reason });
        return;
      case "refused":
        throw new InputInvalid(
          `${showPath(path)} of ${showPath(this.#root)} cannot be read: ${read.reason}.`,
          {
            advice: "Start again when no other program changes the repository, or leave the file out.",
            details: { path },
          },
        );
      case "read": {
        const secret = secretByName(path) ?? secretByContent(read.content);
        const isAllowed = this.#allowed.has(path);
        if (secret !== undefined && isAllowed) this.restricted.add(path);
        if (secret === undefined || isAllowed) return this.#add(path, read.content, read.mode);
        this.leftOut.push({ path, reason: secret });
      }
    }
  }

  async #add(path: string, content: Buffer, mode: FileMode): Promise<void> {
    this.#bytes += content.length;
    if (this.files.size === baseLimits.maxFiles || this.#bytes > baseLimits.maxTreeBytes)
      throw tooLarge(this.#root);
    this.files.set(path, { sha256: await this.#batch.add(content), bytes: content.length, mode });
  }
}

/** The reason of a file that `source.checksOnly` names. */
export const forChecks = "only checks get it";

interface Chosen {
  readonly files: readonly TrackedFile[];
  readonly leftOut: readonly LeftOut[];
}

/** Decides by path alone, before anything is read. */
function choose(tracked: readonly TrackedFile[], filter: SourceFilter): Chosen {
  const [isWanted, isForChecks] = [wantedBy(filter), matcher(filter.checksOnly)];
  const allowed = new Set(filter.allow);
  const index = new PathIndex();
  const files: TrackedFile[] = [];
  const leftOut: LeftOut[] = [];
  for (const file of tracked) {
    const { path } = file;
    const reason = isForChecks(path)
      ? (whyImpossible(path, index) ?? forChecks)
      : ((allowed.has(path) ? undefined : secretByName(path)) ?? whyImpossible(path, index));
    if (!isWanted(path) && reason !== forChecks) continue;
    if (reason !== undefined) {
      leftOut.push({ path, reason });
      continue;
    }
    index.add(path);
    files.push(file);
  }
  return { files, leftOut };
}

function wantedBy({ include, exclude }: SourceFilter): (path: string) => boolean {
  const isIncluded = include.length === 0 ? () => true : matcher(include);
  const isExcluded = matcher(exclude);
  return (path) => isIncluded(path) && !isExcluded(path);
}

function whyImpossible(path: string, index: PathIndex): string | undefined {
  try {
    checkBasePath(path);
  } catch (error) {
    if (InputInvalid.is(error)) return "its name cannot be in a workspace";
    throw error;
  }
  const clash = index.clash(path);
  return clash === undefined
    ? undefined
    : `it differs from ${showPath(clash.other)} only in case or Unicode form`;
}

type Read =
  | { readonly kind: "read"; readonly content: Buffer; readonly mode: FileMode }
  | { readonly kind: "left-out"; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: string }
  /** Removed from the working tree. */
  | { readonly kind: "absent" };

const tooBig = { kind: "left-out", reason: `it has more than ${baseLimits.maxFileBytes} bytes` } as const;

const recorded = ({ mode }: TrackedFile, content: Buffer | undefined): Read =>
  content === undefined ? tooBig : { kind: "read", content, mode };

async function readOnDisk(root: OpenFolder, path: string): Promise<Read> {
  const names = path.split("/");
  const name = names.pop() ?? "";
  try {
    return (await inFolder(root, names, (folder) => readIn(folder, name))) ?? { kind: "absent" };
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    // A folder in its path is now a file or a link, so the file is gone.
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(code)) return { kind: "absent" };
    throw error;
  }
}

async function readIn(folder: OpenFolder, name: string): Promise<Read> {
  const status = await folder.statusOf(name);
  if (status.isSymbolicLink()) return { kind: "read", content: await folder.readLink(name), mode: "link" };
  if (status.isDirectory()) return { kind: "absent" };
  if (status.size > BigInt(baseLimits.maxFileBytes)) return tooBig;
  return readFile(folder, name, baseLimits.maxFileBytes, { mayBeHardLink: true });
}

const matcher = (globs: readonly string[]): ((path: string) => boolean) =>
  globs.length === 0 ? () => false : namedMatcher(globs);

const byPath = (a: LeftOut, b: LeftOut): number => (a.path < b.path ? -1 : 1);

const tooLarge = (root: string): InputInvalid =>
  new InputInvalid(
    `The repository ${showPath(root)} has more than ${baseLimits.maxFiles} files or ${baseLimits.maxTreeBytes} bytes.`,
    { advice: 'Choose a part of it in the team file: source: { include: ["src/**"] }' },
  );
