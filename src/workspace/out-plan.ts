import { constants } from "node:fs";
import { InputInvalid } from "../domain/errors.ts";
import { isJsonObject, type Json, parseJson } from "../domain/json.ts";
import type { FileMode, Tree, TreeFile } from "../domain/tree.ts";
import { checkPath } from "../domain/tree-path.ts";
import type { OpenFolder } from "./open-folder.ts";
import { readFile } from "./read-file.ts";

export const manifestName = ".maestro-out.json";
const format = 1;
const maxBytes = 32 * 1024 * 1024;
const hashForm = /^[0-9a-f]{64}$/;

/** The files that Maestro wrote into a folder. It touches no others. */
export interface OutManifest {
  /** Files by path, each with the hashes it may have: two while a write is in progress. */
  readonly files: ReadonlyMap<string, readonly string[]>;
  /** The last version that was placed beside another author's file. */
  readonly offered: ReadonlyMap<string, string>;
  readonly folders: readonly string[];
}

const emptyManifest: OutManifest = { files: new Map(), offered: new Map(), folders: [] };

export function manifestText({ files, offered, folders }: OutManifest): string {
  const sorted = <V>(map: ReadonlyMap<string, V>): Record<string, V> =>
    Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
  const content = {
    note: "Maestro wrote these files. It replaces or removes one only while it still has a hash from this list.",
    format,
    files: sorted(files),
    offered: sorted(offered),
    folders: folders.toSorted(),
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

/** Without a manifest, Maestro has written nothing in the folder. An unreadable manifest is an error, never a guess. */
export async function readManifest(folder: OpenFolder, directory: string): Promise<OutManifest> {
  const isThere = (await folder.list(Number.MAX_SAFE_INTEGER)).some(
    ({ name }) => name.toString() === manifestName,
  );
  if (!isThere) return emptyManifest;
  const reading = await readFile(folder, manifestName, maxBytes);
  if (reading.kind === "refused") throw unusable(directory, reading.reason);
  const value = parseJson(reading.content, { what: manifestName });
  if (isJsonObject(value) && typeof value["format"] === "number" && value["format"] > format)
    throw unusable(directory, "a newer version of Maestro wrote it");
  const manifest = parse(value);
  if (manifest === undefined) throw unusable(directory, "it is not a list that Maestro wrote");
  return manifest;
}

/** Durable. Fails if the file exists. */
export async function putManifest(folder: OpenFolder, text: string): Promise<void> {
  const file = await folder.file(
    manifestName,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
    0o666,
  );
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function parse(value: Json): OutManifest | undefined {
  if (!isJsonObject(value) || value["format"] !== format) return undefined;
  const { files, offered, folders } = value;
  if (!isJsonObject(files) || !isJsonObject(offered) || !Array.isArray(folders)) return undefined;
  const isHashes = (hashes: Json): boolean => Array.isArray(hashes) && hashes.every(isHash);
  const isGood =
    Object.values(files).every(isHashes) &&
    Object.values(offered).every(isHash) &&
    [...Object.keys(files), ...Object.keys(offered), ...(folders as readonly Json[])].every(isPath);
  if (!isGood) return undefined;
  return {
    files: new Map(Object.entries(files) as [string, string[]][]),
    offered: new Map(Object.entries(offered) as [string, string][]),
    folders: folders as string[],
  };
}

const isHash = (value: unknown): boolean => typeof value === "string" && hashForm.test(value);

export function isPath(value: unknown): boolean {
  try {
    return typeof value === "string" && checkPath(value) === value;
  } catch {
    return false;
  }
}

const unusable = (directory: string, reason: string): InputInvalid =>
  new InputInvalid(`${directory} has a ${manifestName} that cannot be used: ${reason}.`, {
    advice: "Move that file away, or name another folder. Without it nothing there counts as Maestro's.",
  });

/** The current content of a path in the folder. */
export type Found =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly sha256: string; readonly mode: FileMode }
  /** Never touched. `isBeside`: its folder is an ordinary one, so a file may be placed beside it. */
  | { readonly kind: "other"; readonly reason: string; readonly isBeside: boolean };

export type OutAction =
  /** `stay`: the file already has the content. */
  | { readonly kind: "create" | "replace" | "stay"; readonly path: string; readonly file: TreeFile }
  | { readonly kind: "remove"; readonly path: string };

export interface Kept {
  readonly path: string;
  readonly reason: string;
  /** The path of the new version, if one was written. */
  readonly beside?: string;
}

export interface OutPlan {
  readonly actions: readonly OutAction[];
  readonly kept: readonly Kept[];
  /** For the next manifest. */
  readonly offered: ReadonlyMap<string, string>;
}

export const reservedReason = "that name is for the list of files itself";

const besideName = (path: string): string => `${path}.maestro-new`;

/** Every path that `planOut` looks up. */
export const plannedPaths = (tree: Tree, { files }: OutManifest): string[] => [
  ...new Set([...tree.keys(), ...[...tree.keys()].map(besideName), ...files.keys()]),
];

/** Decides for each file. A file that a person created or changed is never replaced or removed. */
export function planOut(tree: Tree, manifest: OutManifest, found: (path: string) => Found): OutPlan {
  const actions: OutAction[] = [];
  const kept: Kept[] = [];
  const offered = new Map<string, string>();
  const wanted = new Set<string>();
  const isOurs = (path: string, sha256: string): boolean =>
    manifest.files.get(path)?.includes(sha256) ?? false;

  /** Undefined if Maestro did not write the file at this path. */
  const place = (path: string, file: TreeFile): OutAction | undefined => {
    const there = found(path);
    if (there.kind === "absent") return { kind: "create", path, file };
    if (there.kind === "other") return undefined;
    const ours = isOurs(path, there.sha256);
    if (there.sha256 === file.sha256 && (!ours || there.mode === file.mode))
      return { kind: "stay", path, file };
    return ours ? { kind: "replace", path, file } : undefined;
  };

  for (const [path, file] of tree) {
    if (path === manifestName) {
      kept.push({ path, reason: reservedReason });
      continue;
    }
    const action = place(path, file);
    if (action !== undefined) {
      actions.push(action);
      wanted.add(path);
      continue;
    }
    const there = found(path);
    const reason = there.kind === "other" ? there.reason : whose(manifest, path);
    const isKnown = manifest.offered.get(path) === file.sha256 || isOurs(path, file.sha256);
    const beside = besideName(path);
    const isPossible = isPath(beside) && !tree.has(beside) && (there.kind !== "other" || there.isBeside);
    const besideAction = isPossible ? place(beside, file) : undefined;
    // A version that a person removed is not offered again.
    const isOffered = besideAction !== undefined && !(isKnown && besideAction.kind === "create");
    if (isOffered) {
      actions.push(besideAction);
      wanted.add(beside);
    }
    if (isOffered || isKnown) offered.set(path, file.sha256);
    kept.push({ path, reason, ...(isOffered && { beside }) });
  }

  for (const path of manifest.files.keys()) {
    if (wanted.has(path) || tree.has(path)) continue;
    const there = found(path);
    if (there.kind === "file" && isOurs(path, there.sha256)) actions.push({ kind: "remove", path });
    else if (there.kind !== "absent")
      kept.push({ path, reason: "it was changed by hand and is no longer needed" });
  }
  return { actions, kept, offered };
}

const whose = (manifest: OutManifest, path: string): string =>
  manifest.files.has(path) ? "it was changed by hand" : "it was there before";

export interface WrittenOut {
  /** Created or replaced. */
  readonly written: readonly string[];
  readonly removed: readonly string[];
  /** Not touched, because a person created or changed them. The new version may be beside, as `<name>.maestro-new`. */
  readonly kept: readonly Kept[];
}
