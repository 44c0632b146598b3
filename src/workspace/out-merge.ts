import { link, lstat, rename, rmdir, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import type { Tree, TreeFile } from "../domain/tree.ts";
import type { BlobStore } from "./blob-store.ts";
import { findIn, inFolder } from "./find-out.ts";
import { foldersAbove } from "./folders-above.ts";
import { OpenFolder } from "./open-folder.ts";
import { manifestName, manifestText, type OutManifest, putManifest, readManifest } from "./out-manifest.ts";
import { type Found, type Kept, type OutAction, type OutPlan, plannedPaths, planOut } from "./out-plan.ts";
import type { OutResult } from "./out-result.ts";
import { makeStage, withStage } from "./out-stage.ts";
import { reasonOf } from "./read-file.ts";
import { withFolder, writeTree } from "./write-tree.ts";

/** Brings the files one by one into a folder that has others. */
export async function mergeOut(tree: Tree, blobs: BlobStore, target: string): Promise<OutResult> {
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

/** Beside the folder, or in it when that is another disk or may not be written. */
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
   * The list comes first and names old and new contents: killed at any point, the next run still knows every file for
   * its own. When all is done the list is made exact.
   */
  async run(): Promise<OutResult> {
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

  /** Says why it did not happen. What is to be replaced or removed is looked at once more, right before. */
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

  /** Those that do not exist yet: we are going to make them, so they will be ours to remove. */
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

  /** Deepest first. One with something in it stays: rmdir itself refuses, so nothing can slip in between. */
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

/** Fails rather than replaces: a link can be made only where nothing is. */
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
  // Some disks have no links; then there is a moment in which a new file could be overwritten.
  const isFree = await lstat(to).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === "ENOENT",
  );
  if (!isFree) return "it appeared just now";
  return rename(from, to).then(nothing);
}

const withoutLinks = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/** Something else came in the way; a disk that fails is another matter. */
function whyBlocked(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && ["ENOTDIR", "ELOOP", "EISDIR", "ESTALE", "ENOENT"].includes(code))
    return reasonOf(error);
  throw error;
}

const namesOf = (path: string): string[] => (path === "." ? [] : path.split("/"));

const nothing = (): undefined => undefined;
