import { type FileHandle, open } from "node:fs/promises";
import { promisify } from "node:util";
import { crc32, inflateRaw } from "node:zlib";
import { baseLimits } from "../../domain/tree-path.ts";
import { archiveLimits, type Packed, refuseArchive } from "./refuse-archive.ts";

const inflate = promisify(inflateRaw);

const signatures = {
  local: 0x04034b50,
  central: 0x02014b50,
  end: 0x06054b50,
  end64: 0x06064b50,
  locator64: 0x07064b50,
} as const;
const endBytes = 22;
const locatorBytes = 20;
const end64Bytes = 56;
const centralBytes = 46;
const localBytes = 30;
const maxCommentBytes = 0xffff;
/** 400,000 entries with names of 200 bytes. */
const maxDirectoryBytes = 128 * 1024 * 1024;
/** The most that deflate adds to its input. */
const mostGrowth = 1024 * 1024;
const most16 = 0xffff;
const most32 = 0xffffffff;

const flags = { encrypted: 0x0001, strong: 0x0040, masked: 0x2000 } as const;
const methods = { stored: 0, deflated: 8 } as const;
const hosts = { dos: 0, unix: 3, mac: 19 } as const;
const kinds = { mask: 0o170000, file: 0o100000, folder: 0o040000, link: 0o120000 } as const;

/** The entries of a zip, as its directory lists them. Refuses the archive if a local header disagrees. */
export async function* readZip(path: string): AsyncGenerator<Packed> {
  await using file = await openForReading(path);
  const { size } = await file.handle.stat();
  const directory = await readDirectory(file.handle, size);
  const entries = parseDirectory(directory.bytes, directory.count);
  refuseOverlap(entries, directory.offset);
  let unpacked = 0;
  for (const entry of entries) {
    unpacked += entry.size;
    if (unpacked > archiveLimits.maxUnpackedBytes)
      throw refuseArchive(`it unpacks to more than ${archiveLimits.maxUnpackedBytes} bytes`);
    yield await readEntry(file.handle, entry, directory.offset);
  }
}

const openForReading = async (path: string): Promise<{ readonly handle: FileHandle } & AsyncDisposable> => {
  const handle = await open(path, "r");
  return { handle, [Symbol.asyncDispose]: () => handle.close() };
};

interface Directory {
  readonly bytes: Buffer;
  readonly count: number;
  readonly offset: number;
}

async function readDirectory(file: FileHandle, size: number): Promise<Directory> {
  const tail = await readAt(
    file,
    Math.max(0, size - endBytes - maxCommentBytes),
    Math.min(size, endBytes + maxCommentBytes),
  );
  const at = findEnd(tail);
  if (at === undefined)
    throw refuseArchive("it has no directory, so it is not a whole zip file", "Send the whole file again.");
  const end = tail.subarray(at);
  const endOffset = size - tail.length + at;
  const plain = {
    disks: end.readUInt16LE(4) + end.readUInt16LE(6),
    count: end.readUInt16LE(10),
    length: end.readUInt32LE(12),
    offset: end.readUInt32LE(16),
  };
  const isLarge = plain.count === most16 || plain.length === most32 || plain.offset === most32;
  const {
    disks,
    count,
    length,
    offset,
    end: endsAt,
  } = (isLarge ? await readEnd64(file, endOffset) : undefined) ?? {
    ...plain,
    end: endOffset,
  };
  if (disks !== 0) throw refuseArchive("it is one of several parts", "Pack the files into one zip.");
  if (count > archiveLimits.maxEntries)
    throw refuseArchive(`it has more than ${archiveLimits.maxEntries} entries`);
  if (length > maxDirectoryBytes) throw refuseArchive("its directory is too large");
  if (offset + length !== endsAt) throw refuseArchive("its directory is not where it says");
  return { bytes: await readAt(file, offset, length), count, offset };
}

/** Searched from the end: the comment may contain anything, including this signature. */
function findEnd(tail: Buffer): number | undefined {
  for (let at = tail.length - endBytes; at >= 0; at -= 1)
    if (
      tail.readUInt32LE(at) === signatures.end &&
      at + endBytes + tail.readUInt16LE(at + 20) === tail.length
    )
      return at;
  return undefined;
}

async function readEnd64(file: FileHandle, endOffset: number) {
  if (endOffset < locatorBytes + end64Bytes) return undefined;
  const locator = await readAt(file, endOffset - locatorBytes, locatorBytes);
  if (locator.readUInt32LE(0) !== signatures.locator64) return undefined;
  const at = safe(locator.readBigUInt64LE(8));
  if (at + end64Bytes > endOffset) throw refuseArchive("its directory is not where it says");
  const end = await readAt(file, at, end64Bytes);
  if (end.readUInt32LE(0) !== signatures.end64) throw refuseArchive("its directory is damaged");
  return {
    disks: end.readUInt32LE(16) + end.readUInt32LE(20),
    count: safe(end.readBigUInt64LE(32)),
    length: safe(end.readBigUInt64LE(40)),
    offset: safe(end.readBigUInt64LE(48)),
    end: at,
  };
}

interface Entry {
  readonly name: Buffer;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
  /** In the format of `stat`; 0 if the zip does not say. */
  readonly mode: number;
}

function parseDirectory(bytes: Buffer, count: number): readonly Entry[] {
  const entries: Entry[] = [];
  let at = 0;
  for (let number = 0; number < count; number += 1) {
    if (at + centralBytes > bytes.length || bytes.readUInt32LE(at) !== signatures.central)
      throw refuseArchive("its directory is damaged");
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((place) =>
      bytes.readUInt16LE(at + place),
    ) as [number, number, number];
    const next = at + centralBytes + nameBytes + extraBytes + commentBytes;
    if (next > bytes.length) throw refuseArchive("its directory is damaged");
    entries.push(parseEntry(bytes.subarray(at, next), nameBytes, extraBytes));
    at = next;
  }
  if (at !== bytes.length) throw refuseArchive("its directory does not list all that is in it");
  return entries;
}

function parseEntry(record: Buffer, nameBytes: number, extraBytes: number): Entry {
  const host = record.readUInt8(5);
  const extra = record.subarray(centralBytes + nameBytes, centralBytes + nameBytes + extraBytes);
  const large = new LargeFields(extra);
  // In this order, and each only if its own field is full.
  const size = large.read(record.readUInt32LE(24));
  const packed = large.read(record.readUInt32LE(20));
  const offset = large.read(record.readUInt32LE(42));
  const name = Buffer.from(record.subarray(centralBytes, centralBytes + nameBytes));
  return {
    name: host === hosts.dos ? withSlashes(name) : name,
    flags: record.readUInt16LE(8),
    method: record.readUInt16LE(10),
    crc: record.readUInt32LE(16),
    packed,
    size,
    offset,
    mode: host === hosts.unix || host === hosts.mac ? record.readUInt32LE(38) >>> 16 : 0,
  };
}

/** The extra field of zip64: the numbers that did not fit, in sequence. */
class LargeFields {
  readonly #numbers: Buffer;
  #at = 0;

  constructor(extra: Buffer) {
    this.#numbers = extraField(extra, 1) ?? Buffer.alloc(0);
  }

  read(plain: number): number {
    if (plain !== most32) return plain;
    if (this.#at + 8 > this.#numbers.length) throw refuseArchive("a size in it is missing");
    const value = safe(this.#numbers.readBigUInt64LE(this.#at));
    this.#at += 8;
    return value;
  }
}

function extraField(extra: Buffer, wanted: number): Buffer | undefined {
  for (let at = 0; at + 4 <= extra.length; ) {
    const length = extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === wanted) return extra.subarray(at + 4, at + 4 + length);
    at += 4 + length;
  }
  return undefined;
}

/** Entries that share bytes would unpack to far more than the zip holds. */
function refuseOverlap(entries: readonly Entry[], end: number): void {
  const places = entries.toSorted((a, b) => a.offset - b.offset);
  for (const [index, { offset, packed, name }] of places.entries()) {
    const next = places[index + 1]?.offset ?? end;
    if (offset + localBytes + name.length + packed > next) throw refuseArchive("files in it overlap");
  }
}

async function readEntry(file: FileHandle, entry: Entry, end: number): Promise<Packed> {
  const { name, mode, method, size } = entry;
  const shown = JSON.stringify(name.toString().slice(0, 200));
  if ((entry.flags & (flags.encrypted | flags.strong | flags.masked)) !== 0)
    throw refuseArchive(`${shown} is encrypted`, "Pack the files without a password.");
  const kind = mode & kinds.mask;
  if (name.at(-1) === 0x2f || kind === kinds.folder) return { kind: "folder", name };
  if (kind !== 0 && kind !== kinds.file && kind !== kinds.link)
    throw refuseArchive(`${shown} is a device or a pipe`, "Pack files, folders and links only.");
  if (method !== methods.stored && method !== methods.deflated)
    throw refuseArchive(
      `${shown} is compressed in a way that is not supported`,
      "Use deflate, the default of zip programs.",
    );
  const start = await checkLocal(file, entry, shown);
  const isExecutable = (mode & 0o111) !== 0;
  if (size > baseLimits.maxFileBytes) return { kind: "file", name, isExecutable, content: undefined };
  if (entry.packed > size + mostGrowth || start + entry.packed > end) throw wrongSize(shown);
  const content = await unpack(await readAt(file, start, entry.packed), entry, shown);
  return kind === kinds.link
    ? { kind: "link", name, target: content }
    : { kind: "file", name, isExecutable, content };
}

/** Where the content starts. A program that reads from the front must see the same file. */
async function checkLocal(file: FileHandle, { offset, name, method }: Entry, shown: string): Promise<number> {
  const local = await readAt(file, offset, localBytes);
  const nameBytes = local.readUInt16LE(26);
  const isSame =
    local.readUInt32LE(0) === signatures.local &&
    local.readUInt16LE(8) === method &&
    nameBytes === name.length;
  const found = isSame ? await readAt(file, offset + localBytes, nameBytes) : undefined;
  if (found === undefined || !withSlashes(found).equals(withSlashes(name)))
    throw refuseArchive(`${shown} has two different headers`);
  return offset + localBytes + nameBytes + local.readUInt16LE(28);
}

async function unpack(packed: Buffer, { method, size, crc }: Entry, shown: string): Promise<Buffer> {
  const content =
    method === methods.stored
      ? packed
      : await inflate(packed, { maxOutputLength: Math.max(size, 1) }).catch((cause: unknown) => {
          throw Object.assign(wrongSize(shown), { cause });
        });
  if (content.length !== size) throw wrongSize(shown);
  if (crc32(content) !== crc) throw refuseArchive(`${shown} is damaged`, "Send the file again.");
  return content;
}

const wrongSize = (shown: string): Error => refuseArchive(`${shown} has another size than it says`);

/** Old Windows programs write backslashes. */
const withSlashes = (name: Buffer): Buffer =>
  name.includes(0x5c) ? Buffer.from(name.map((byte) => (byte === 0x5c ? 0x2f : byte))) : name;

function safe(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw refuseArchive("a number in it is too large");
  return Number(value);
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const content = Buffer.allocUnsafe(length);
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(content, filled, length - filled, offset + filled);
    if (bytesRead === 0) throw refuseArchive("it ends in the middle", "Send the whole file again.");
    filled += bytesRead;
  }
  return content;
}
