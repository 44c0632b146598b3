import { InputInvalid, StorageFailed } from "../domain/errors.ts";

const disk: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the quota is used up",
  EROFS: "the disk is read-only",
  EIO: "the disk reported an error",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EMFILE: "too many files are open",
};

const clash: readonly (string | undefined)[] = ["EEXIST", "ENOTDIR", "EISDIR"];

/** Explains a system error in terms of the files to be written. Other errors are returned unchanged. */
export function storageFailure(directory: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (clash.includes(code))
    return new InputInvalid(`${directory} cannot hold the files: one of them is in another's way.`, {
      cause: error,
      advice: "Rename a file, or name another folder; some disks do not tell upper from lower case.",
    });
  if (code === undefined || !(error instanceof Error) || !("syscall" in error)) return error;
  return new StorageFailed(`${directory} could not be written: ${disk[code] ?? code}.`, {
    cause: error,
    details: { directory, code },
    advice: "Mend that, then try again.",
  });
}
