import { type FileHandle, open, readdir, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../domain/canonical.ts";
import { newId } from "../domain/ids.ts";
import type { BlobBatch } from "./blobs.ts";
import {
  asideSuffix,
  makeDirectoryDurably,
  storageFailed,
  syncDirectory,
  temporarySuffix,
} from "./durable-file.ts";
import { reach } from "./fault-points.ts";

/** A 32-byte hash, an 8-byte offset and a 4-byte length. */
const rowBytes = 44;
/** The length of the index. */
const footerBytes = 8;
/** Small blobs are written together. */
const writeBytes = 1024 * 1024;
const packSuffix = ".pack";
const idLength = 64;

/** Where a blob lies in a pack. */
interface PackedBlob {
  readonly pack: Pack;
  readonly offset: number;
  readonly length: number;
}

/** One file with many blobs: their bytes, an index sorted by hash, and the length of the index. */
interface Pack {
  /** The hash of the index, which is itself a blob. A row that references it keeps the whole pack. */
  readonly id: string;
  readonly path: string;
  readonly index: Buffer;
}

/**
 * Blobs that arrived together, such as the files of a repository: one file and one sync for all. A pack never
 * changes and is kept or removed as a whole.
 */
export class Packs {
  readonly folder: string;
  #packs = new Map<string, Pack>();
  /** Reset when a batch begins. */
  #isRead = false;

  constructor(artifactsFolder: string) {
    this.folder = join(artifactsFolder, "packs");
  }

  pathOf(id: string): string {
    return join(this.folder, id + packSuffix);
  }

  /** Includes packs that a killed prune left aside. */
  async ids(): Promise<readonly string[]> {
    const names = await readdir(this.folder).catch(() => []);
    const ids = names.map((name) => name.slice(0, idLength));
    return [...new Set(ids.filter((_, place) => names[place]?.slice(idLength).startsWith(packSuffix)))];
  }

  async hasPack(id: string): Promise<boolean> {
    return this.#packs.has(id) || (await this.ids()).includes(id);
  }

  /** The bytes as they are on disk; undefined if no pack has them. */
  async read(hash: string): Promise<Buffer | undefined> {
    const found = await this.find(hash);
    if (found === undefined) return this.#packs.get(hash)?.index;
    const { path } = found.pack;
    // A prune moves it aside for a moment and may restore it.
    const file = (await openOr(path)) ?? (await openOr(path + asideSuffix)) ?? (await openOr(path));
    if (file === undefined) {
      this.#packs.delete(found.pack.id);
      return undefined;
    }
    try {
      const content = Buffer.allocUnsafe(found.length);
      await readFully(file, content, found.offset);
      return content;
    } finally {
      await file.close();
    }
  }

  /** `again`: also look for new packs if the known ones lack it. */
  async find(hash: string, { again = true } = {}): Promise<PackedBlob | undefined> {
    const found = this.#lookup(hash);
    if (found !== undefined || (this.#isRead && !again)) return found;
    return (await this.#refresh()) ? this.#lookup(hash) : undefined;
  }

  /** `known`: for a blob that is already stored, the hash that a row must reference. */
  begin(known: (hash: string) => Promise<string | undefined>): BlobBatch {
    this.#isRead = false;
    return new PackWriter(this.folder, known);
  }

  #lookup(hash: string): PackedBlob | undefined {
    const wanted = Buffer.from(hash, "hex");
    for (const pack of this.#packs.values()) {
      const row = search(pack.index, wanted);
      if (row !== undefined)
        return { pack, offset: Number(row.readBigUInt64BE(32)), length: row.readUInt32BE(40) };
    }
    return undefined;
  }

  /** True if it found a new pack. */
  async #refresh(): Promise<boolean> {
    const ids = await this.ids();
    this.#isRead = true;
    const fresh = ids.filter((id) => !this.#packs.has(id));
    const kept = new Map([...this.#packs].filter(([id]) => ids.includes(id)));
    for (const id of fresh) {
      const index = await readIndex(this.pathOf(id));
      // A damaged index finds nothing, so its blobs count as missing, which `get` reports.
      if (index !== undefined && sha256(index) === id) kept.set(id, { id, path: this.pathOf(id), index });
    }
    this.#packs = kept;
    return fresh.length > 0;
  }
}

class PackWriter implements BlobBatch {
  readonly #folder: string;
  readonly #known: (hash: string) => Promise<string | undefined>;
  readonly #added = new Map<string, { readonly offset: number; readonly length: number }>();
  readonly #references = new Set<string>();
  readonly #temporary: string;
  #file: FileHandle | undefined;
  #size = 0;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(folder: string, known: (hash: string) => Promise<string | undefined>) {
    this.#folder = folder;
    this.#known = known;
    this.#temporary = join(folder, `${newId()}${temporarySuffix}`);
  }

  async add(content: Buffer): Promise<string> {
    const hash = sha256(content);
    if (this.#added.has(hash)) return hash;
    const reference = await this.#known(hash);
    if (reference !== undefined) {
      this.#references.add(reference);
      return hash;
    }
    this.#added.set(hash, { offset: this.#size, length: content.length });
    this.#size += content.length;
    this.#held.push(content);
    this.#heldBytes += content.length;
    if (this.#heldBytes >= writeBytes) await this.#write();
    return hash;
  }

  async commit(): Promise<readonly string[]> {
    if (this.#added.size === 0) return [...this.#references].sort();
    const index = indexOf(this.#added);
    const id = sha256(index);
    const footer = Buffer.alloc(footerBytes);
    footer.writeBigUInt64BE(BigInt(index.length));
    this.#held.push(index, footer);
    const file = await this.#write();
    try {
      reach?.("file:before-fsync");
      await file.sync();
      await file.close();
      this.#file = undefined;
      reach?.("pack:before-rename");
      await rename(this.#temporary, join(this.#folder, id + packSuffix));
      reach?.("pack:after-rename");
      await syncDirectory(this.#folder);
    } catch (error) {
      throw storageFailed(this.#temporary, error);
    }
    return [...this.#references, id].sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#file === undefined) return;
    await this.#file.close();
    await unlink(this.#temporary).catch(() => undefined);
  }

  async #write(): Promise<FileHandle> {
    try {
      this.#file ??= await this.#create();
      await this.#file.writeFile(Buffer.concat(this.#held));
    } catch (error) {
      throw storageFailed(this.#temporary, error);
    }
    this.#held = [];
    this.#heldBytes = 0;
    return this.#file;
  }

  async #create(): Promise<FileHandle> {
    await makeDirectoryDurably(this.#folder);
    return open(this.#temporary, "wx", 0o600);
  }
}

function indexOf(added: ReadonlyMap<string, { readonly offset: number; readonly length: number }>): Buffer {
  const sorted = [...added].sort(([a], [b]) => (a < b ? -1 : 1));
  const index = Buffer.alloc(sorted.length * rowBytes);
  for (const [number, [hash, { offset, length }]] of sorted.entries()) {
    const at = number * rowBytes;
    index.write(hash, at, "hex");
    index.writeBigUInt64BE(BigInt(offset), at + 32);
    index.writeUInt32BE(length, at + 40);
  }
  return index;
}

const openOr = (path: string): Promise<FileHandle | undefined> =>
  open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  });

async function readIndex(path: string): Promise<Buffer | undefined> {
  const file = await openOr(path);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    if (size < footerBytes) return undefined;
    const footer = Buffer.alloc(footerBytes);
    await readFully(file, footer, size - footerBytes);
    const length = Number(footer.readBigUInt64BE());
    if (length > size - footerBytes || length % rowBytes !== 0) return undefined;
    const index = Buffer.alloc(length);
    await readFully(file, index, size - footerBytes - length);
    return index;
  } finally {
    await file.close();
  }
}

/** Stops at the end of the file. The hash then reveals a missing part. */
async function readFully(file: FileHandle, into: Buffer, offset: number): Promise<void> {
  let filled = 0;
  while (filled < into.length) {
    const { bytesRead } = await file.read(into, filled, into.length - filled, offset + filled);
    if (bytesRead === 0) return;
    filled += bytesRead;
  }
}

function search(index: Buffer, hash: Buffer): Buffer | undefined {
  let [low, high] = [0, index.length / rowBytes - 1];
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const at = middle * rowBytes;
    const order = index.compare(hash, 0, 32, at, at + 32);
    if (order === 0) return index.subarray(at, at + rowBytes);
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}
