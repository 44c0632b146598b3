import { link, lstat, mkdir, readdir, realpath, rename, rmdir, stat, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { InputInvalid } from "../domain/errors.ts";
import { idTime, newId } from "../domain/ids.ts";
import type { Tree, TreeFile } from "../domain/tree.ts";
import type { BlobStore } from "./blobs.ts";
import { refuseGitFolder } from "./git-folder.ts";
import { makeFolders } from "./make-folders.ts";
import { foldersAbove, OpenFolder } from "./open-folder.ts";
import {
  type Found,
  type Kept,
  manifestName,
  manifestText,
  type OutAction,
  type OutManifest,
  type OutPlan,
  plannedPaths,
  planOut,
  putManifest,
  readManifest,
  reservedReason,
  type WrittenOut,
} from "./out-plan.ts";
import { reasonOf } from "./read-file.ts";
import { removeFolder } from "./remove-folder.ts";
import { findIn, inFolder } from "./stat-no-follow.ts";
import { storageFailure } from "./storage-failure.ts";
import { withFolder, writeTree } from "./write-tree.ts";

/**
 * Writes the tree to a folder of the user. A new or empty folder appears whole, by one rename. Otherwise all files
 * are first written beside their targets, then each is renamed into place: a full disk changes nothing, a crash
 * leaves every file whole, old or new, and a second call finishes the work. Only files that `.maestro-out.json`
 * lists, and that still have the listed content, are replaced or removed. Links are not followed. Two concurrent
 * calls for one folder are not supported.
 */
export async function writeOut(tree: Tree, blobs: BlobStore, directory: string): Promise<WrittenOut> {
  const wanted = resolve(directory);
  await refuseGitFolder(wanted);
  try {
    await makeFolders(dirname(wanted));
    const target = join(await realpath(dirname(wanted)), basename(wanted));
    await removeOldStages(dirname(target));
    const state = await stateOf(target);
    if (state !== "filled") {
      const result = await appear(tree, blobs, target, state);
      if (result !== undefined) return result;
      await makeFolders(target);
    }
    return await mergeOut(tree, blobs, target);
  } catch (error) {
    throw storageFailure(wanted, error);
  }
}

/** The manifest of a non-empty folder; undefined for an empty one. */
export async function filledManifest(directory: string): Promise<OutManifest | undefined> {
  const target = resolve(directory);
  try {
    if ((await stateOf(target)) !== "filled") return undefined;
    await using root = await OpenFolder.open(target);
    return await readManifest(root, target);
  } catch (error) {
    throw storageFailure(target, error);
  }
}

/** Adds these files to the manifest of a folder that lists others. */
export async function listOurs(directory: string, files: Tree, before: OutManifest): Promise<void> {
  const ours = manifestOf(files);
  const folders = before.folders.filter((folder) => ours.folders.includes(folder));
  await using root = await OpenFolder.open(resolve(directory));
  const text = manifestText({ ...ours, folders });
  if (text === manifestText(before)) return;
  const stage = await makeStage(resolve(directory), 0o700);
  await withStage(stage, async () => {
    await using staged = await OpenFolder.open(stage);
    await putManifest(staged, text);
    await rename(staged.at(manifestName), root.at(manifestName));
    await root.sync();
  });
}

type TargetState = "missing" | "empty" | "filled";

async function stateOf(target: string): Promise<TargetState> {
  const status = await lstat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (status === undefined) return "missing";
  if (!status.isDirectory())
    throw new InputInvalid(`${target} is ${status.isSymbolicLink() ? "a symbolic link" : "not a folder"}.`, {
      advice: "Name a folder; a link is not followed.",
    });
  await using folder = await OpenFolder.open(target);
  return (await folder.list(0)).length === 0 ? "empty" : "filled";
}

/** Undefined if the folder cannot be created by one rename; its files are then written one by one. */
async function appear(
  tree: Tree,
  blobs: BlobStore,
  target: string,
  state: "missing" | "empty",
): Promise<WrittenOut | undefined> {
  // Replacing this folder would leave a shell in a deleted one.
  if (state === "empty" && (await realpath(target)) === process.cwd()) return undefined;
  const stage = await makeStage(dirname(target), 0o777).catch(() => undefined);
  if (stage === undefined) return undefined;
  return withStage(stage, async () => {
    const files = new Map([...tree].filter(([path]) => path !== manifestName));
    await using root = await OpenFolder.open(stage);
    if (state === "empty") await copyRights(target, root);
    await writeTree(root, files, blobs, { modes: "umask", isDurable: true });
    await putManifest(root, manifestText(manifestOf(files)));
    await root.sync();
    try {
      await rename(stage, target);
    } catch {
      return undefined;
    }
    await using parent = await OpenFolder.open(dirname(target));
    await parent.sync();
    const kept = tree.has(manifestName) ? [{ path: manifestName, reason: reservedReason }] : [];
    return { written: [...files.keys()].sort(), removed: [], kept };
  });
}

function manifestOf(files: Tree): OutManifest {
  return {
    files: new Map([...files].map(([path, { sha256 }]) => [path, [sha256]])),
    offered: new Map(),
    folders: [...new Set([...files.keys()].flatMap(foldersAbove))],
  };
}

/** The folder that replaces an empty one keeps its owner and mode. */
async function copyRights(from: string, to: OpenFolder): Promise<void> {
  const { mode, uid, gid } = await lstat(from);
  await to.setMode(mode & 0o7777);
  await to.setOwner(uid, gid).catch(() => undefined);
}

/** Writes the files one by one into a folder that has other files. */
async function mergeOut(tree: Tree, blobs: BlobStore, target: string): Promise<WrittenOut> {
  await using root = await OpenFolder.open(target);
  const before = await readManifest(root, target);
  const found = new Map<string, Found>();
  for (const path of plannedPaths(tree, before)) found.set(path, await findIn(root, path));
  const plan = planOut(tree, before, (path) => found.get(path) ?? { kind: "absent" });
  const stage = await stageFor(target);
  return await withStage(stage, async () => {
    await using staged = await OpenFolder.open(stage);
    await writeTree(staged, newFiles(plan), blobs, { modes: "umask", isDurable: true });
    return await new Merge(root, staged, before, plan).run();
  });
}

/** Beside the folder, or inside it if its parent is on another disk or read-only. */
async function stageFor(target: string): Promise<string> {
  const parent = dirname(target);
  const isSameDisk = (await stat(parent)).dev === (await stat(target)).dev;
  const stage = isSameDisk ? await makeStage(parent, 0o700).catch(() => undefined) : undefined;
  return stage ?? makeStage(target, 0o700);
}

const newFiles = ({ actions }: OutPlan): Tree =>
  new Map(
    actions.flatMap((action): [string, TreeFile][] =>
      action.kind === "create" || action.kind === "replace" ? [[action.path, action.file]] : [],
    ),
  );

class Merge {
  readonly #root: OpenFolder;
  readonly #staged: OpenFolder;
  readonly #before: OutManifest;
  readonly #plan: OutPlan;
  readonly #ours = new Map<string, readonly string[]>();
  readonly #kept: Kept[];
  readonly #written: string[] = [];
  readonly #removed: string[] = [];
  #lastText: string;

  constructor(root: OpenFolder, staged: OpenFolder, before: OutManifest, plan: OutPlan) {
    this.#root = root;
    this.#staged = staged;
    this.#before = before;
    this.#plan = plan;
    this.#kept = [...plan.kept];
    this.#lastText = manifestText(before);
  }

  /**
   * Writes the manifest first, with old and new hashes: after a kill at any point, the next run still recognizes
   * every file. At the end it is written again with the exact hashes.
   */
  async run(): Promise<WrittenOut> {
    const { actions, offered } = this.#plan;
    const folders = new Set([...this.#before.folders, ...(await this.#missingFolders())]);
    if (actions.some(({ kind }) => kind !== "stay"))
      await this.#writeManifest({ files: this.#oldAndNew(), offered, folders: [...folders] });
    for (const action of actions) await this.#apply(action);
    for (const folder of await this.#removeEmpty(folders)) folders.delete(folder);
    const touched = new Set([...this.#written, ...this.#removed].map((path) => dirname(path)));
    for (const folder of touched) await inFolder(this.#root, namesOf(folder), (open) => open.sync());
    await this.#writeManifest({ files: this.#ours, offered, folders: [...folders] });
    return { written: this.#written.sort(), removed: this.#removed.sort(), kept: this.#kept };
  }

  async #apply(action: OutAction): Promise<void> {
    const { path } = action;
    if (action.kind === "stay") {
      if (this.#isOurs(path, action.file.sha256)) this.#ours.set(path, [action.file.sha256]);
      return;
    }
    const reason = await this.#act(action).catch((error: unknown) => whyBlocked(error));
    if (reason !== undefined) this.#kept.push({ path, reason });
    else if (action.kind === "remove") this.#removed.push(path);
    else {
      this.#written.push(path);
      this.#ours.set(path, [action.file.sha256]);
    }
  }

  /** The reason if nothing was done. A file to replace or remove is compared again immediately before. */
  async #act(action: Exclude<OutAction, { kind: "stay" }>): Promise<string | undefined> {
    const names = namesOf(action.path);
    const name = names.pop() ?? "";
    if (action.kind !== "create") {
      const now = await findIn(this.#root, action.path);
      if (now.kind !== "file" || !this.#isOurs(action.path, now.sha256))
        return "it was changed by hand just now";
    }
    if (action.kind === "remove") {
      await inFolder(this.#root, names, (folder) => unlink(folder.at(name)));
      return undefined;
    }
    let reason: string | undefined;
    await withFolder(this.#root, names, async (to) => {
      reason = await inFolder(this.#staged, names, (from) =>
        action.kind === "create"
          ? placeNew(from.at(name), to.at(name))
          : rename(from.at(name), to.at(name)).then(nothing),
      );
    });
    return reason;
  }

  #isOurs(path: string, sha256: string): boolean {
    return this.#before.files.get(path)?.includes(sha256) ?? false;
  }

  #oldAndNew(): Map<string, readonly string[]> {
    const files = new Map(this.#before.files);
    for (const action of this.#plan.actions) {
      if (action.kind !== "create" && action.kind !== "replace") continue;
      files.set(action.path, [...new Set([...(files.get(action.path) ?? []), action.file.sha256])]);
    }
    return files;
  }

  /** Folders that this run creates and may remove later. */
  async #missingFolders(): Promise<string[]> {
    const created = this.#plan.actions.flatMap(({ kind, path }) =>
      kind === "create" ? foldersAbove(path) : [],
    );
    const missing: string[] = [];
    for (const folder of new Set(created)) {
      const isThere = await inFolder(this.#root, namesOf(folder), () => Promise.resolve(true)).catch(
        () => true,
      );
      if (isThere === undefined) missing.push(folder);
    }
    return missing;
  }

  /** Deepest first. rmdir refuses a folder that is not empty, so there is no race. */
  async #removeEmpty(folders: ReadonlySet<string>): Promise<string[]> {
    const needed = new Set([...this.#ours.keys()].flatMap(foldersAbove));
    const gone: string[] = [];
    for (const path of [...folders]
      .filter((folder) => !needed.has(folder))
      .sort()
      .toReversed()) {
      const names = namesOf(path);
      const name = names.pop() ?? "";
      try {
        await inFolder(this.#root, names, (folder) => rmdir(folder.at(name)));
        gone.push(path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") gone.push(path);
      }
    }
    return gone;
  }

  async #writeManifest(manifest: OutManifest): Promise<void> {
    const text = manifestText(manifest);
    if (text === this.#lastText) return;
    await putManifest(this.#staged, text);
    await rename(this.#staged.at(manifestName), this.#root.at(manifestName));
    await this.#root.sync();
    this.#lastText = text;
  }
}

/** Never replaces a file, because a link can only be made at a free path. */
async function placeNew(from: Buffer, to: Buffer): Promise<string | undefined> {
  try {
    await link(from, to);
    await unlink(from);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return "it appeared just now";
    if (code === undefined || !withoutLinks.includes(code)) throw error;
  }
  // Some file systems have no links. There, a file created between lstat and rename is overwritten.
  const isFree = await lstat(to).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === "ENOENT",
  );
  if (!isFree) return "it appeared just now";
  return rename(from, to).then(nothing);
}

const withoutLinks = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/** The reason if the path has changed meanwhile. A failing disk is an error. */
function whyBlocked(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && ["ENOTDIR", "ELOOP", "EISDIR", "ESTALE", "ENOENT"].includes(code))
    return reasonOf(error);
  throw error;
}

const namesOf = (path: string): string[] => (path === "." ? [] : path.split("/"));

const nothing = (): undefined => undefined;

const stageForm = /^\.maestro-out-([0-9a-z]{26})\.tmp$/;
const oldStageMs = 24 * 60 * 60 * 1000;

/** A folder for preparing files, on the disk of its target. */
async function makeStage(parent: string, mode: number): Promise<string> {
  const stage = join(parent, `.maestro-out-${newId()}.tmp`);
  await mkdir(stage, { mode });
  return stage;
}

/** Removes the stage afterwards, unless the work renamed it. */
async function withStage<T>(stage: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await removeFolder(stage);
  }
}

/** Removes the stages of killed writers. A younger stage may belong to a running writer. */
async function removeOldStages(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const id = stageForm.exec(name)?.[1];
    if (id === undefined || idTime(id) > Date.now() - oldStageMs) continue;
    await removeFolder(join(parent, name)).catch(() => undefined);
  }
}
