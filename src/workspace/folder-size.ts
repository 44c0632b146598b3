import type { Stats } from "node:fs";
import { lstat, readdir, readlink, stat, statfs } from "node:fs/promises";
import { join } from "node:path";

const blockBytes = 512;

/** The disk space of everything below the folders. Stops above `most`, because the excess does not matter. */
export async function bytesBelow(
  folders: readonly string[],
  most: number,
  signal: AbortSignal,
): Promise<number> {
  const waiting = [...folders];
  const counted = new Counted();
  const isDone = () => counted.bytes > most || signal.aborted;
  for (let folder = waiting.pop(); folder !== undefined && !isDone(); folder = waiting.pop()) {
    // The command changes these files meanwhile. Missing ones do not count.
    const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of found) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      counted.add(await lstat(path).catch(() => undefined));
    }
  }
  return counted.bytes;
}

/** The number of entries below the folder, and the total size of its files. */
export async function measureFolder(
  folder: string,
): Promise<{ readonly entries: number; readonly bytes: number }> {
  const waiting = [folder];
  let [entries, bytes] = [0, 0];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true })) {
      const path = join(at, entry.name);
      entries += 1;
      if (entry.isDirectory()) waiting.push(path);
      else bytes += (await lstat(path)).size;
    }
  }
  return { entries, bytes };
}

/**
 * The space of files that these processes hold open although no folder names them. `isMeant` selects files by their
 * status.
 */
export async function bytesHeldOpen(
  pids: readonly number[],
  isMeant: (name: string, status: Stats) => boolean,
): Promise<number> {
  const counted = new Counted();
  for (const pid of pids) {
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const path = `/proc/${pid}/fd/${descriptor}`;
      const name = await readlink(path).catch(() => "");
      if (!name.endsWith(" (deleted)")) continue;
      const status = await stat(path).catch(() => undefined);
      if (status !== undefined && isMeant(name, status)) counted.add(status);
    }
  }
  return counted.bytes;
}

/** Where a sandbox keeps temporary files in memory. */
const temporaryFolders = ["/tmp", "/dev/shm"] as const;

/** The files in memory that these processes see in their temporary folders, unless Maestro sees the same folders. */
export async function bytesInTemporary(pids: readonly number[]): Promise<number> {
  const used = new Map<number, number>();
  for (const folder of temporaryFolders) {
    const own = (await stat(folder).catch(() => undefined))?.dev;
    for (const pid of pids) {
      const path = `/proc/${pid}/root${folder}`;
      const device = (await stat(path).catch(() => undefined))?.dev;
      if (device === undefined || device === own || used.has(device)) continue;
      const { blocks, bfree, bsize } = await statfs(path).catch(() => ({ blocks: 0, bfree: 0, bsize: 0 }));
      used.set(device, (blocks - bfree) * bsize);
    }
  }
  return [...used.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** A file with several names or descriptors counts once. */
class Counted {
  bytes = 0;
  readonly #seen = new Set<string>();

  add(status: Stats | undefined): void {
    if (status === undefined) return;
    const file = `${status.dev} ${status.ino}`;
    if (this.#seen.has(file)) return;
    this.#seen.add(file);
    this.bytes += status.blocks * blockBytes;
  }
}
