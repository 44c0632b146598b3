import { constants } from "node:fs";
import { mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { InputInvalid, StorageFailed } from "../domain/errors.ts";
import { newId } from "../domain/ids.ts";
import { type FaultPoint, reach } from "./fault-points.ts";

/** Suffix of a file that a prune is about to remove. */
export const asideSuffix = ".pruned";
export const temporarySuffix = ".tmp";

/**
 * After this returns, the complete file is under its name, even after a power cut. Until then the old file is
 * untouched.
 */
export async function writeDurably(
  path: string,
  content: string | Uint8Array,
  points: { beforeRename: FaultPoint; afterRename: FaultPoint } = {
    beforeRename: "file:before-rename",
    afterRename: "file:after-rename",
  },
): Promise<void> {
  const temporary = `${path}.${newId()}${temporarySuffix}`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(content);
      reach?.("file:before-fsync");
      await file.sync();
    } finally {
      await file.close();
    }
    reach?.(points.beforeRename);
    await rename(temporary, path);
    reach?.(points.afterRename);
    await syncDirectory(dirname(path));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw storageFailed(path, error);
  }
}

/** Directories whose entries are known to be on disk. The set is bounded; others are synced once more. */
const durableDirectories = new Set<string>();
const rememberedDirectories = 10_000;

/**
 * Creates level by level, each on disk before the next: a power cut could otherwise remove a whole branch. An
 * existing directory is synced once too, because the process that created it may have died before its sync.
 * `within` must exist: a state directory that was moved away must not come back empty.
 */
export async function makeDirectoryDurably(path: string, within?: string): Promise<void> {
  try {
    await makeDirectories(path, within);
  } catch (error) {
    throw storageFailed(path, error);
  }
}

/**
 * Like `makeDirectoryDurably`, but throws the system's own errors; returns whether the last directory is new.
 * `mkdir` with `recursive` is not used, because on a read-only file system Node then reports ENOENT, which misleads
 * users.
 */
export async function makeDirectories(path: string, within?: string): Promise<boolean> {
  let isNew: boolean;
  try {
    isNew = await makeDirectory(path);
  } catch (error) {
    const isOutside = dirname(path) === path || dirname(path) === within;
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || isOutside) throw error;
    await makeDirectories(dirname(path), within);
    isNew = await makeDirectory(path);
  }
  if (!isNew && durableDirectories.has(path)) return false;
  reach?.("directory:before-fsync");
  await syncDirectory(dirname(path));
  if (durableDirectories.size >= rememberedDirectories) durableDirectories.clear();
  durableDirectories.add(path);
  return isNew;
}

/** True if it is new. Another process may be creating the same one. */
async function makeDirectory(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST" && (await stat(path)).isDirectory()) return false;
    throw error;
  }
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Why a path cannot be the written file: it is missing, or something else has its name. */
export type NoFile = "missing" | "a symbolic link" | "a folder" | "no regular file" | "too large";

/**
 * Never follows a link and never reads more than the limit. Throws StorageFailed if the disk refused the read,
 * because the file may be intact.
 */
export async function readFileBounded(path: string, maxBytes: number): Promise<Buffer | NoFile> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const found = await file.stat();
      if (found.isDirectory()) return "a folder";
      if (!found.isFile()) return "no regular file";
      return found.size > maxBytes ? "too large" : await file.readFile();
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "missing";
    // Not the whole path is checked: a link in place of a parent is followed, and the operator may have made it.
    if (code === "ELOOP") return "a symbolic link";
    // A socket, or a device without its driver.
    if (code === "ENXIO") return "no regular file";
    throw unreadable(path, error);
  }
}

/** Undefined if there is no such file. */
export async function readBounded(path: string, maxBytes: number): Promise<Buffer | undefined> {
  const found = await readFileBounded(path, maxBytes);
  if (found === "missing") return undefined;
  if (typeof found !== "string") return found;
  throw new InputInvalid(
    `${path} is ${found === "too large" ? `larger than ${maxBytes} bytes` : `${found}, not a file`}.`,
    { details: { path } },
  );
}

/**
 * Removes temporary files of killed writers. Where others may be writing, pass `olderThan`, which spares newer
 * files; without it, call this only at a claim.
 */
export async function removeTemporaries(
  directory: string,
  { olderThan = Number.POSITIVE_INFINITY } = {},
): Promise<void> {
  const files = (await readdir(directory).catch(() => [])).filter((file) => file.endsWith(temporarySuffix));
  for (const file of files) {
    const path = join(directory, file);
    const changedAt = (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
    if (changedAt < olderThan) await unlink(path).catch(() => undefined);
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the quota is used up",
  EROFS: "the disk is read-only",
  EIO: "the disk reported an error",
  EACCES: "permission denied",
};

export function storageFailed(path: string, cause: unknown): unknown {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === undefined) return cause;
  return new StorageFailed(`${path} could not be written: ${reasons[code] ?? code}.`, {
    cause,
    details: { path, code },
    advice: "Fix that, then resume the session: its files are written again from the journal.",
  });
}

/** An unreadable file says nothing about its content: it counts as neither damaged nor missing. */
export function unreadable(path: string, cause: unknown): unknown {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === undefined) return cause;
  return new StorageFailed(`${path} could not be read: ${reasons[code] ?? code}.`, {
    cause,
    details: { path, code },
    advice: "Check the disk, the system log and permissions, then try again. Nothing was changed.",
  });
}
