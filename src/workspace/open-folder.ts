import { type BigIntStats, constants, type Dirent, existsSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, opendir, readlink, symlink } from "node:fs/promises";

const { O_DIRECTORY, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Whether names can be resolved relative to an open folder, like openat(2). */
const canAnchor = process.platform === "linux" && existsSync("/proc/self/fd");

/** A single name, never a path. Names from the disk are bytes, because they may have any encoding. */
export type Name = string | Buffer;

export interface Entry {
  readonly name: Buffer;
  /** The kind in the folder's listing, which may be outdated. */
  readonly kind: "file" | "folder" | "link" | "special" | "unknown";
}

/**
 * A folder held by its descriptor, so that it cannot be replaced while in use. Node has no openat(2). On Linux
 * `/proc/self/fd/<n>/<name>` is equivalent: the kernel starts at the open folder, so only the last name is
 * resolved, and O_NOFOLLOW guards it. Elsewhere whole paths are used and every folder above is checked again after
 * each step. That detects a swap unless it is undone in time, so nothing hostile may be running then.
 */
export class OpenFolder implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #path: Buffer;
  readonly #parent: OpenFolder | undefined;
  readonly #isAnchored: boolean;
  readonly status: BigIntStats;

  private constructor(held: Held) {
    this.#handle = held.handle;
    this.#path = held.path;
    this.#parent = held.parent;
    this.#isAnchored = held.isAnchored;
    this.status = held.status;
  }

  /** Refuses a symbolic link at the end of the path. The path above it is the caller's choice. */
  static async open(path: string, { isAnchored = canAnchor } = {}): Promise<OpenFolder> {
    return OpenFolder.#hold(path, { path: Buffer.from(path), parent: undefined, isAnchored });
  }

  static async #hold(path: string | Buffer, known: Omit<Held, "handle" | "status">): Promise<OpenFolder> {
    const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const folder = new OpenFolder({ ...known, handle, status: await handle.stat({ bigint: true }) });
      await folder.#verify();
      return folder;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async folder(name: Name): Promise<OpenFolder> {
    return OpenFolder.#hold(this.at(name), {
      path: below(this.#path, name),
      parent: this,
      isAnchored: this.#isAnchored,
    });
  }

  /** The folder with that name, created if missing. */
  async makeFolder(name: Name, mode = 0o777): Promise<OpenFolder> {
    await mkdir(this.at(name), { mode }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    return this.folder(name);
  }

  /** Never follows a link and never waits for the other end of a pipe. */
  async file(name: Name, flags: number, mode?: number): Promise<FileHandle> {
    const handle = await open(this.at(name), flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode);
    try {
      if (!this.#isAnchored) await this.#verifyNamed(name, handle);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async statusOf(name: Name): Promise<BigIntStats> {
    const status = await lstat(this.at(name), { bigint: true });
    await this.#verify();
    return status;
  }

  /** The path for a single call that follows no link: lstat, mkdir, link, rename, unlink, rmdir. */
  at(name: Name): Buffer {
    const text = name.toString("latin1");
    if (text === "" || text === "." || text === ".." || /[/\0]/.test(text))
      throw new TypeError(`${JSON.stringify(text)} is not a single name`);
    return below(this.#here, name);
  }

  /** The target of a symbolic link, which is not followed. Returns bytes, because a target may have any encoding. */
  async readLink(name: Name): Promise<Buffer> {
    const target = await readlink(this.at(name), { encoding: "buffer" });
    await this.#verify();
    return target;
  }

  async makeLink(name: Name, target: Buffer): Promise<void> {
    await symlink(target, this.at(name));
    await this.#verify();
  }

  /** Sorted by name. One more than the limit shows that there are more; the disk decides which ones are returned. */
  async list(limit: number): Promise<Entry[]> {
    const entries: Entry[] = [];
    // The types know only text encodings, but names may be any bytes.
    const encoding = "buffer" as BufferEncoding;
    for await (const entry of await opendir(this.#here, { encoding, bufferSize: 256 })) {
      entries.push({ name: entry.name as unknown as Buffer, kind: kindOf(entry) });
      if (entries.length > limit) break;
    }
    await this.#verify();
    return entries.sort((a, b) => Buffer.compare(a.name, b.name));
  }

  async setMode(mode: number): Promise<void> {
    await this.#handle.chmod(mode);
  }

  async setOwner(uid: number, gid: number): Promise<void> {
    await this.#handle.chown(uid, gid);
  }

  async sync(): Promise<void> {
    await this.#handle.sync();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Throws if one of the folders above has moved. An anchored folder cannot be redirected. */
  async #verify(): Promise<void> {
    if (this.#isAnchored) return;
    if (this.#parent !== undefined) await this.#parent.#verify();
    if (!isSame(await lstat(this.#path, { bigint: true }), this.status)) throw swapped(this.#path);
  }

  async #verifyNamed(name: Name, handle: FileHandle): Promise<void> {
    await this.#verify();
    const [named, opened] = [await this.statusOf(name), await handle.stat({ bigint: true })];
    if (!isSame(named, opened)) throw swapped(below(this.#path, name));
  }

  get #here(): Buffer {
    // The kernel answers ENOENT, which callers would take for a missing file.
    if (this.#handle.fd === -1) throw new TypeError("the folder was closed while it was in use");
    return this.#isAnchored ? Buffer.from(`/proc/self/fd/${this.#handle.fd}`) : this.#path;
  }
}

interface Held {
  readonly handle: FileHandle;
  readonly path: Buffer;
  readonly parent: OpenFolder | undefined;
  readonly isAnchored: boolean;
  readonly status: BigIntStats;
}

const below = (path: Buffer, name: Name): Buffer =>
  Buffer.concat([path, Buffer.from("/"), typeof name === "string" ? Buffer.from(name) : name]);

const isSame = (a: BigIntStats, b: BigIntStats): boolean => a.dev === b.dev && a.ino === b.ino;

const swapped = (path: Buffer): Error =>
  Object.assign(new Error(`${path.toString()} was replaced while it was in use`), { code: "ESTALE" });

function kindOf(entry: Dirent): Entry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  if (entry.isSymbolicLink()) return "link";
  return entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice()
    ? "special"
    : "unknown";
}

/** "a/b/c" lies in "a" and in "a/b". */
export const foldersAbove = (path: string): string[] =>
  path
    .split("/")
    .slice(0, -1)
    .map((_, index, names) => names.slice(0, index + 1).join("/"));
