import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { OpenFolder } from "../../workspace/open-folder.ts";

const maxFiles = 1000;
const maxFolders = 10_000;
const maxEntries = 10_000;
const maxDepth = 16;
const maxLineBytes = 8 * 1024 * 1024;
const maxBytes = 256 * 1024 * 1024;
const chunkBytes = 512 * 1024;

/** How much may still be read of one home. */
interface Left {
  files: number;
  folders: number;
  bytes: number;
}

/** The path of a file, from the folder where the search began. */
export type IsWanted = (path: readonly string[]) => boolean;

/**
 * The lines of wanted files in a folder of a home. The agent may have put anything there, and may change it now: no link is
 * followed, also not on the way to the folder, and nothing but an ordinary file is read.
 */
export async function* linesBelow(
  home: string,
  [name, ...names]: readonly string[],
  isWanted: IsWanted,
): AsyncGenerator<string> {
  const folder = await orNone(OpenFolder.open(home));
  if (folder === undefined) return;
  yield* inside(folder, name === undefined ? [] : [name, ...names], isWanted);
}

async function* inside(
  folder: OpenFolder,
  [name, ...names]: readonly string[],
  isWanted: IsWanted,
): AsyncGenerator<string> {
  try {
    if (name === undefined) {
      yield* walk(folder, [], isWanted, { files: maxFiles, folders: maxFolders, bytes: maxBytes });
      return;
    }
    const next = await orNone(folder.folder(name));
    if (next !== undefined) yield* inside(next, names, isWanted);
  } finally {
    await folder.close();
  }
}

async function* walk(
  folder: OpenFolder,
  above: readonly string[],
  isWanted: IsWanted,
  left: Left,
): AsyncGenerator<string> {
  for (const { name, kind } of (await orNone(folder.list(maxEntries))) ?? []) {
    const path = [...above, name.toString()];
    if (kind === "folder" && path.length < maxDepth && left.folders-- > 0) {
      const next = await orNone(folder.folder(name));
      if (next === undefined) continue;
      try {
        yield* walk(next, path, isWanted, left);
      } finally {
        await next.close();
      }
    }
    if (kind !== "file" || !isWanted(path) || left.files-- <= 0) continue;
    const file = await orNone(folder.file(name, constants.O_RDONLY));
    if (file === undefined) continue;
    try {
      const status = await file.stat();
      // A second name may give access to a file that is not the agent's.
      if (status.isFile() && status.nlink === 1) yield* linesOf(file, left);
    } catch {
      // It cannot be read on: the lines before count.
    } finally {
      await file.close();
    }
  }
}

/** A longer line is passed over, and is never held whole. */
async function* linesOf(file: FileHandle, left: Left): AsyncGenerator<string> {
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let parts: Buffer[] = [];
  let length = 0;
  const add = (part: Buffer): void => {
    length += part.length;
    if (length > maxLineBytes) parts = [];
    else parts.push(Buffer.from(part));
  };
  const end = (): string => {
    const line = length > maxLineBytes ? "" : Buffer.concat(parts).toString();
    parts = [];
    length = 0;
    return line;
  };
  while (left.bytes > 0) {
    const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, left.bytes));
    if (bytesRead === 0) break;
    left.bytes -= bytesRead;
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1 && at < bytesRead; at = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, at));
      from = at + 1;
      yield end();
    }
    add(chunk.subarray(from, bytesRead));
  }
  yield end();
}

/** It is not there, it is a link, or it was replaced: there is nothing to read. */
const orNone = <T>(opening: Promise<T>): Promise<T | undefined> => opening.catch(() => undefined);
