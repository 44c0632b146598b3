import { constants } from "node:fs";
import { rename, rmdir, unlink } from "node:fs/promises";
import { sha256 } from "../../domain/canonical.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { changesBetween, sameFile, type Tree, type TreeFile } from "../../domain/tree.ts";
import { checkBasePath } from "../../domain/tree-path.ts";
import { type BlobStore, BlobsBeside } from "../blobs.ts";
import { type Conflict, describeConflict } from "../conflict.ts";
import { refuseGitFolder } from "../git-folder.ts";
import { mergeTrees } from "../merge.ts";
import { foldersAbove, OpenFolder } from "../open-folder.ts";
import { readFile } from "../read-file.ts";
import { inFolder } from "../stat-no-follow.ts";
import { decodeText, splitLines } from "../text.ts";
import { mergeLines } from "../text-merge.ts";
import { withFolder } from "../write-tree.ts";

export interface ApplyConflict {
  readonly path: string;
  readonly reason: string;
  /** Whether the file was written with both versions between markers. */
  readonly isMarked: boolean;
}

export interface Applied {
  readonly written: readonly string[];
  readonly removed: readonly string[];
  readonly conflicts: readonly ApplyConflict[];
}

const maxFileBytes = 64 * 1024 * 1024;
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

export interface Changes {
  readonly base: Tree;
  readonly after: Tree;
  readonly blobs: BlobStore;
  /** Folders of other repositories, where nothing is written. */
  readonly apart: readonly string[];
  /** Content that Maestro wrote at these paths. It may be replaced like that of the base, and removed. */
  readonly own: ReadonlyMap<string, ReadonlySet<string>>;
  /** Paths to check besides the changed ones. One that is missing in the folder is written again. */
  readonly whole?: Iterable<string>;
}

/**
 * Applies the changes from `base` to `after` to a folder. A file that still has the base's content is replaced, any
 * other is merged by lines. On a conflict nothing is written, unless `force` is set: then clean files are written,
 * and conflicting texts get both versions between markers. Links are not followed. A second call finishes an
 * interrupted one.
 */
export async function applyChanges(
  { base, after, blobs, apart, own, whole = [] }: Changes,
  directory: string,
  { force }: { readonly force: boolean },
): Promise<Applied> {
  await refuseGitFolder(directory);
  const beside = new BlobsBeside(blobs);
  const again = new Set(whole);
  const changed = changesBetween(base, after).map(({ path }) => path);
  const paths = [...new Set([...changed, ...own.keys(), ...again])].map((path) => checkBasePath(path));
  await using root = await OpenFolder.open(directory).catch((cause: unknown) => {
    throw new InputInvalid(`${directory} cannot be opened as a folder.`, {
      advice: "Name an existing folder; a link is not followed.",
      cause,
    });
  });
  const present = new Map<string, TreeFile>();
  const before = new Map<string, TreeFile>();
  const blocked: ApplyConflict[] = [];
  const isApart = new Set(apart);
  for (const path of paths) {
    const owner = [path, ...foldersAbove(path)].find((folder) => isApart.has(folder));
    const known = base.get(path);
    const isKnown = (hash: string): boolean =>
      [known?.sha256, after.get(path)?.sha256].includes(hash) || own.get(path)?.has(hash) === true;
    const keep: Keep = async (content) => {
      const hash = sha256(content);
      return isKnown(hash) ? hash : beside.put(content);
    };
    const found: Found = owner === undefined ? await look(root, path, keep) : ofSubmodule(path, owner);
    if (found.kind === "file") {
      present.set(path, found.file);
      const start = own.get(path)?.has(found.file.sha256) === true ? found.file : known;
      if (start !== undefined) before.set(path, start);
    } else if (known !== undefined && !again.has(path)) before.set(path, known);
    if (found.kind === "blocked") blocked.push({ path, reason: found.reason, isMarked: false });
  }
  const isBlocked = new Set(blocked.map(({ path }) => path));
  // A file that should stay unchanged needs no place in the merge, which is bounded.
  const free = paths.filter((path) => !isBlocked.has(path) && !sameFile(before.get(path), after.get(path)));
  const [from, ours, to] = [only(before, free), only(present, free), only(after, free)];
  const merged = await mergeTrees({ base: from, ours, theirs: to, blobs: beside });
  const marked = force
    ? await markConflicts(merged.conflicts, from, ours, to, beside)
    : new Map<string, TreeFile>();
  const conflicts = [
    ...blocked,
    ...merged.conflicts.map((conflict) => ({
      path: conflict.path,
      reason: describeConflict(
        conflict,
        "you",
        "the session",
        marked.has(conflict.path) ? "The file has both versions, between markers" : "Yours is unchanged",
      ),
      isMarked: marked.has(conflict.path),
    })),
  ];
  if (conflicts.length > 0 && !force) return { written: [], removed: [], conflicts };
  const wanted = new Map([...merged.tree, ...marked]);
  const changes = changesBetween(ours, wanted);
  for (const { path, after: file } of changes) if (file === undefined) await remove(root, path);
  for (const { path, after: file } of changes)
    if (file !== undefined) await replace(root, path, file, beside);
  const is = (removed: boolean) =>
    changes.filter(({ after: file }) => (file === undefined) === removed).map(({ path }) => path);
  return { written: is(false), removed: is(true), conflicts };
}

const only = (tree: Tree, paths: readonly string[]): Tree =>
  new Map(
    paths.flatMap((path) => {
      const file = tree.get(path);
      return file === undefined ? [] : [[path, file] as const];
    }),
  );

type Found =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly file: TreeFile }
  | { readonly kind: "blocked"; readonly reason: string };

/** Returns the hash of the content, and stores it if necessary. */
type Keep = (content: Buffer) => Promise<string>;

const ofSubmodule = (path: string, submodule: string): Found => ({
  kind: "blocked",
  reason: `${path}: ${submodule} is a submodule, which is a repository of its own.`,
});

async function look(root: OpenFolder, path: string, keep: Keep): Promise<Found> {
  const [names, name] = split(path);
  try {
    return (await inFolder(root, names, (folder) => lookIn(folder, name, keep))) ?? { kind: "absent" };
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { kind: "absent" };
    if (code === "ELOOP" || code === "ENOTDIR")
      return { kind: "blocked", reason: `${path}: a folder on the way to it is a file or a link.` };
    throw error;
  }
}

async function lookIn(folder: OpenFolder, name: string, keep: Keep): Promise<Found> {
  const status = await folder.statusOf(name);
  if (status.isDirectory()) return { kind: "blocked", reason: `${name} is a folder.` };
  if (status.isSymbolicLink()) {
    const target = await folder.readLink(name);
    return { kind: "file", file: { sha256: await keep(target), bytes: target.length, mode: "link" } };
  }
  const reading = await readFile(folder, name, maxFileBytes, { mayBeHardLink: true });
  if (reading.kind === "refused") return { kind: "blocked", reason: `${name}: ${reading.reason}.` };
  const { content, mode } = reading;
  return { kind: "file", file: { sha256: await keep(content), bytes: content.length, mode } };
}

/** Texts that both sides changed, with both versions where they differ. */
async function markConflicts(
  conflicts: readonly Conflict[],
  base: Tree,
  ours: Tree,
  theirs: Tree,
  blobs: BlobStore,
): Promise<ReadonlyMap<string, TreeFile>> {
  const marked = new Map<string, TreeFile>();
  for (const { path, kind } of conflicts) {
    const mine = ours.get(path);
    if (mine === undefined || (kind !== "content" && kind !== "add-add")) continue;
    const [before, own, other] = await Promise.all(
      [base, ours, theirs].map((tree) => linesOf(tree.get(path), blobs)),
    );
    if (before === undefined || own === undefined || other === undefined) continue;
    const content = mergeLines(before, own, other, mark).lines.join("");
    marked.set(path, { ...mine, sha256: await blobs.put(content), bytes: Buffer.byteLength(content) });
  }
  return marked;
}

async function linesOf(file: TreeFile | undefined, blobs: BlobStore): Promise<readonly string[] | undefined> {
  if (file === undefined) return [];
  const text = decodeText(await blobs.get(file.sha256));
  return text === undefined ? undefined : splitLines(text);
}

const mark = (ours: readonly string[], theirs: readonly string[]): readonly string[] => [
  "<<<<<<< yours\n",
  ...ended(ours),
  "=======\n",
  ...ended(theirs),
  ">>>>>>> maestro\n",
];

/** The last line of a file may lack a line end. */
const ended = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => (line.endsWith("\n") ? line : `${line}\n`));

/** Replaces by one rename, so that a crash leaves the old file or the new one. */
async function replace(
  root: OpenFolder,
  path: string,
  { sha256, mode }: TreeFile,
  blobs: BlobStore,
): Promise<void> {
  const [names, name] = split(path);
  const content = await blobs.get(sha256);
  await withFolder(root, names, async (folder) => {
    const temporary = `.maestro-${newId()}`;
    if (mode === "link") await folder.makeLink(temporary, content);
    else {
      const rights = await rightsOf(folder, name);
      const file = await folder.file(temporary, newFile, mode === "executable" ? 0o777 : 0o666);
      try {
        if (rights !== undefined) await file.chmod(withMode(rights, mode));
        await file.writeFile(content);
        await file.sync();
      } finally {
        await file.close();
      }
    }
    await rename(folder.at(temporary), folder.at(name));
    await folder.sync();
  });
}

/** The permissions of the file to replace; undefined if there is none. */
async function rightsOf(folder: OpenFolder, name: string): Promise<number | undefined> {
  try {
    const status = await folder.statusOf(name);
    return status.isFile() ? Number(status.mode) & 0o777 : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The same permissions. Execution is allowed only to those who may read. */
const withMode = (rights: number, mode: TreeFile["mode"]): number =>
  mode === "executable" ? rights | ((rights & 0o444) >> 2) : rights & ~0o111;

/** Also removes the folders that it leaves empty, like git. */
async function remove(root: OpenFolder, path: string): Promise<void> {
  const [names, name] = split(path);
  const isGone = await inFolder(root, names, async (folder) => {
    await unlink(folder.at(name));
    return true;
  });
  if (isGone !== true) return;
  for (let depth = names.length; depth > 0; depth -= 1) {
    const last = names[depth - 1] ?? "";
    const isEmpty = await inFolder(root, names.slice(0, depth - 1), (above) =>
      rmdir(above.at(last)).then(
        () => true,
        () => false,
      ),
    );
    if (isEmpty !== true) return;
  }
}

function split(path: string): readonly [names: readonly string[], name: string] {
  const names = path.split("/");
  const name = names.pop() ?? "";
  return [names, name];
}
