import { type BigIntStats, constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { Tree } from "../domain/tree.ts";
import { foldPath, showPath } from "../domain/tree-path.ts";
import type { Name, OpenFolder } from "./open-folder.ts";

type FileReading =
  | { readonly kind: "read"; readonly content: Buffer; readonly mode: "file" | "executable" }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Reads one ordinary file. All decisions use the open descriptor, so a name that is replaced meanwhile has no
 * effect.
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
    // Check by name instead of descriptor: a hard link that was opened and then removed has one name left, elsewhere.
    const after = await folder.statusOf(name);
    if (content === undefined || !isSame(before, after) || (after.nlink > 1n && !mayBeHardLink))
      return { kind: "refused", reason: changed };
    return { kind: "read", content, mode: (before.mode & 0o100n) !== 0n ? "executable" : "file" };
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
  // A second name may be anywhere and give access to files that are not ours.
  if (status.nlink > 1n && !mayBeHardLink) return "it is a hard link";
  if (status.size > BigInt(maxBytes)) return `it has ${status.size} bytes, and the limit is ${maxBytes}`;
  return undefined;
}

/** Undefined if the file is longer or shorter than its status said. */
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

/** For people: why a path on the disk could not be read. */
export function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return reasons[code] ?? `the disk says ${code}`;
}

/** Each candidate costs a comparison letter by letter. */
const maxCandidates = 300;
const maxLengthDifference = 4;

/** An error for a missing file that suggests the likely path. */
export function missingFile(path: string, tree: Tree): InputInvalid {
  const inside = filesInside(path, tree);
  if (inside.length > 0) {
    return new InputInvalid(`${showPath(path)} is a folder.`, {
      advice: `Name a file in it: ${inside.map(showPath).join(", ")}.`,
      details: { path },
    });
  }
  return new InputInvalid(`There is no file ${showPath(path)}.${suggestion(path, tree)}`, {
    advice: tree.size === 0 ? "The workspace has no files yet." : "List the files to see their paths.",
    details: { path },
  });
}

function filesInside(path: string, tree: Tree): string[] {
  const found: string[] = [];
  for (const file of tree.keys()) if (file.startsWith(`${path}/`) && found.push(file) === 3) break;
  return found;
}

/** The only file with that name, wherever it is; otherwise the path with the fewest typos. */
function suggestion(path: string, tree: Tree): string {
  const wanted = foldPath(path);
  const named: string[] = [];
  const near: string[] = [];
  const others: string[] = [];
  for (const file of tree.keys()) {
    const folded = foldPath(file);
    if (nameOf(folded) === nameOf(wanted)) named.push(file);
    else if (folderOf(folded) === folderOf(wanted)) near.push(file);
    else if (Math.abs(file.length - path.length) <= maxLengthDifference) others.push(file);
  }
  if (named.length === 1) return ` Did you mean ${showPath(named[0] ?? "")}?`;
  return didYouMean(path, [...named, ...near, ...others].slice(0, maxCandidates));
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);
