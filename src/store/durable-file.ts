import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { InputInvalid, StorageFailed } from "../domain/errors.ts";
import { newId } from "../domain/ids.ts";
import { type FaultPoint, reach } from "./fault-points.ts";

const temporarySuffix = ".tmp";

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
 * directory is synced once as well: the process that made it may have died before its sync.
 */
export async function makeDirectoryDurably(path: string): Promise<void> {
  try {
    await makeDirectories(path);
  } catch (error) {
    throw storageFailed(path, error);
  }
}

/**
 * The same with the system's own errors; whether the last one is new. Not `mkdir` with `recursive`: on a read-only file
 * system Node then says ENOENT, and users search the wrong thing.
 */
export async function makeDirectories(path: string): Promise<boolean> {
  let isNew: boolean;
  try {
    isNew = await makeDirectory(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
    await makeDirectories(dirname(path));
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

/** Undefined when there is no such file. Never follows a link, never reads more than the limit. */
export async function readBounded(path: string, maxBytes: number): Promise<Buffer | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const { size } = await file.stat();
    if (size > maxBytes)
      throw new InputInvalid(`${path} has ${size} bytes; at most ${maxBytes} are read.`, {
        details: { path, size },
      });
    return await file.readFile();
  } finally {
    await file.close();
  }
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

function storageFailed(path: string, cause: unknown): unknown {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === undefined) return cause;
  const why: Record<string, string> = {
    ENOSPC: "the disk is full",
    EDQUOT: "the quota is used up",
    EROFS: "the disk is read-only",
    EIO: "the disk reported an error",
  };
  return new StorageFailed(`${path} could not be written: ${why[code] ?? code}.`, {
    cause,
    details: { path, code },
    advice: "Mend that, then resume the session: what is in the journal is written again.",
  });
}
