import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, unlink } from "node:fs/promises";
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
      reach("file:before-fsync");
      await file.sync();
    } finally {
      await file.close();
    }
    reach(points.beforeRename);
    await rename(temporary, path);
    reach(points.afterRename);
    await syncDirectory(dirname(path));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw storageFailed(path, error);
  }
}

/** A directory's own entry must be synced too, or the whole directory can vanish with the power. */
export async function makeDirectoryDurably(path: string): Promise<void> {
  try {
    const first = await mkdir(path, { recursive: true, mode: 0o700 });
    if (first !== undefined) await syncDirectory(dirname(first));
  } catch (error) {
    throw storageFailed(path, error);
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

/** Removes what killed writers left behind. Only safe while nobody else writes there: at a claim, or when pruning. */
export async function removeTemporaries(directory: string): Promise<number> {
  const leftovers = (await readdir(directory).catch(() => [])).filter((file) =>
    file.endsWith(temporarySuffix),
  );
  for (const file of leftovers) await unlink(join(directory, file)).catch(() => undefined);
  return leftovers.length;
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
