import { mkdtemp, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { makeFolders, type OutFolder, refuseGitFolder } from "../api/open-readonly.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { OutResult } from "../index.ts";
import { say } from "./output.ts";
import { count, plain } from "./terminal/format.ts";

/** Prints how the session's files were written to the folder. */
export function sayWritten({ written, removed, kept, conflicts }: OutResult, directory: string): void {
  for (const { reason } of conflicts) say(plain(`Conflict: ${reason}`));
  if (conflicts.length > 0)
    return say(
      plain(
        `Nothing was written to ${directory}: it has other changes of the same files. Name an empty folder, or remove the conflicts.`,
      ),
    );
  const gone = removed.length === 0 ? "" : `, ${removed.length} removed`;
  say(plain(`${count(written.length, "file")} written to ${directory}${gone}.`));
  for (const { path, reason } of kept) say(plain(`Not overwritten: ${path}: ${reason}`));
}

/** Do not recreate a folder that a person moved. */
export async function isGone({ folder, used }: OutFolder): Promise<boolean> {
  return used && (await stat(folder).catch(() => undefined)) === undefined;
}

/**
 * Proves that files can be written to the folder before any model is paid. It writes a real file, because
 * permissions do not reveal read-only or full disks, and removes it again.
 */
export async function checkOut(directory: string | undefined): Promise<void> {
  if (directory === undefined) return;
  const folder = resolve(directory);
  await refuseGitFolder(folder);
  const missing = await missingFolders(folder);
  let probe: string | undefined;
  try {
    await makeFolders(folder);
    probe = await mkdtemp(join(folder, ".maestro-probe-"));
    await writeFile(join(probe, "probe"), Buffer.alloc(4096));
  } catch (error) {
    throw refused(directory, error);
  } finally {
    if (probe !== undefined) await rm(probe, { recursive: true, force: true });
    // Remove only empty folders, because another process may write there by now.
    for (const path of missing) await rmdir(path).catch(() => undefined);
  }
}

/** The missing folders down to this one, deepest first. */
async function missingFolders(folder: string): Promise<readonly string[]> {
  const isThere = (await stat(folder).catch(() => undefined)) !== undefined;
  return isThere || folder === dirname(folder) ? [] : [folder, ...(await missingFolders(dirname(folder)))];
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EEXIST: "it is not a folder",
  ENOENT: "part of the path does not exist and cannot be created",
  ENOTDIR: "part of the path is not a folder",
  EROFS: "read-only file system",
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is used up",
};

function refused(directory: string, error: unknown): InputInvalid {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return new InputInvalid(`Files cannot be written to ${directory}: ${reasons[code] ?? message}.`, {
    cause: error,
    advice: "Choose another folder with --out; a folder that does not exist is created.",
  });
}
