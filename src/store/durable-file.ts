import { constants } from "node:fs";
import { mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { InputInvalid, StorageFailed } from "../domain/errors.ts";
import { newId } from "../domain/ids.ts";
import { type FaultPoint, reach } from "./fault-points.ts";

/** Of a file that a prune is about to remove. */
export const asideSuffix = ".pruned";
export const temporarySuffix = ".tmp";

/** After this returns the file is whole under its name, also after a power cut; before, the old one is untouched. */
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

/** Their entries are known to be on disk. Only so many are remembered; the others are synced once more. */
const durableDirectories = new Set<string>();
const rememberedDirectories = 10_000;

/**
 * Level by level, each on disk before the next is made: a power cut could otherwise remove a whole branch. An existing
 * directory is synced once as well: the process that made it may have died before its sync. `within` must exist: a state
 * directory that was moved away must not come back empty.
 */
export async function makeDirectoryDurably(path: string, within?: string): Promise<void> {
  try {
    await makeDirectories(path, within);
  } catch (error) {
    throw storageFailed(path, error);
  }
}

/**
 * The same with the system's own errors; whether the last one is new. Not `mkdir` with `recursive`: on a read-only file
 * system Node then says ENOENT, and users search the wrong thing.
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

/** True when it is new. Another process may be making the same one. */
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

/** A file that cannot be the one that was written: it is gone, or something else has its name. */
export type NoFile = "missing" | "a symbolic link" | "a folder" | "no regular file" | "too large";

/** Never follows a link, never reads more than the limit. StorageFailed: it may be whole, and the disk refused to say. */
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
    // Not all of the path is checked: a link in place of a parent is followed, and one of the operator's may be.
    if (code === "ELOOP") return "a symbolic link";
    // A socket, or a device without its driver.
    if (code === "ENXIO") return "no regular file";
    throw unreadable(path, error);
  }
}

/** Undefined when there is no such file. */
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
 * Removes what killed writers left behind. Where others may be writing, only what has not changed since `olderThan`:
 * without it, only at a claim.
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
    advice: "Mend that, then resume the session: what is in the journal is written again.",
  });
}

/** Says nothing about the content: it is neither damaged nor missing as far as anyone knows. */
export function unreadable(path: string, cause: unknown): unknown {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === undefined) return cause;
  return new StorageFailed(`${path} could not be read: ${reasons[code] ?? code}.`, {
    cause,
    details: { path, code },
    advice: "Check the disk, the system log and permissions, then try again. Nothing was changed.",
  });
}
