import { type BigIntStats, constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { Name, OpenFolder } from "./open-folder.ts";

export type FileReading =
  | { readonly kind: "read"; readonly content: Buffer; readonly executable: boolean }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Reads one ordinary file, whatever is really there: what is decided is decided on the open descriptor, so that a
 * name that changes its meaning in between changes nothing.
 */
export async function readFile(
  folder: OpenFolder,
  name: Name,
  maxBytes: number,
  { mayBeHardLink = false } = {},
): Promise<FileReading> {
  let file: FileHandle;
  try {
    file = await folder.file(name, constants.O_RDONLY);
  } catch (error) {
    return { kind: "refused", reason: reasonOf(error) };
  }
  try {
    const before = await file.stat({ bigint: true });
    const reason = whyNot(before, maxBytes, mayBeHardLink);
    if (reason !== undefined) return { kind: "refused", reason };
    const content = await readExactly(file, Number(before.size));
    // Asked by name, not by descriptor: a hard link that was opened and then removed has one name left, elsewhere.
    const after = await folder.statusOf(name);
    if (content === undefined || !isSame(before, after) || (after.nlink > 1n && !mayBeHardLink))
      return { kind: "refused", reason: changed };
    return { kind: "read", content, executable: (before.mode & 0o100n) !== 0n };
  } catch (error) {
    return { kind: "refused", reason: reasonOf(error) };
  } finally {
    await file.close();
  }
}

const changed = "it changed while it was read";

const isSame = (a: BigIntStats, b: BigIntStats): boolean =>
  a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs;

function whyNot(status: BigIntStats, maxBytes: number, mayBeHardLink: boolean): string | undefined {
  if (!status.isFile()) return "it is not an ordinary file";
  // A second name may lie anywhere, and give a way in for what is not ours.
  if (status.nlink > 1n && !mayBeHardLink) return "it is a hard link";
  if (status.size > BigInt(maxBytes)) return `it has ${status.size} bytes, and the limit is ${maxBytes}`;
  return undefined;
}

/** Undefined when there is more or less to read than the status said. */
async function readExactly(file: FileHandle, size: number): Promise<Buffer | undefined> {
  const buffer = Buffer.allocUnsafe(size + 1);
  let filled = 0;
  while (filled <= size) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled === size ? buffer.subarray(0, size) : undefined;
}

const reasons: Readonly<Record<string, string>> = {
  ELOOP: "it is a symbolic link",
  EMLINK: "it is a symbolic link",
  ENOTDIR: "it is a symbolic link or no longer a folder",
  ENXIO: "it is a socket or a pipe",
  EOPNOTSUPP: "it is a socket or a pipe",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOENT: changed,
  ESTALE: changed,
};

/** For people: why something on the disk could not be read. */
export function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return reasons[code] ?? `the disk says ${code}`;
}
