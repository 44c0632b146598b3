import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { baseLimits } from "../../domain/tree-path.ts";
import { archiveLimits, type Packed, refuseArchive } from "./refuse-archive.ts";

const blockBytes = 512;
/** Limit for an extended header or a long name, which hold a few names and numbers. */
const maxExtraBytes = 64 * 1024;
const truncated = (): Error => refuseArchive("it ends in the middle", "Send the whole file again.");

/** The entries of a tar.gz, in order, with names of any length as GNU tar and pax write them. */
export async function* readTarGz(path: string): AsyncGenerator<Packed> {
  const gunzip = createGunzip();
  // Errors of the file and of gzip reach the reader of the last stream.
  const unpacked = pipeline(createReadStream(path), gunzip, () => undefined);
  const bytes = new ByteReader(unpacked);
  try {
    yield* entriesOf(bytes);
    // The checksum of gzip follows the last byte.
    await bytes.drain();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code?.startsWith("Z_") === true) throw code === "Z_BUF_ERROR" ? truncated() : notGzip(error);
    throw error;
  } finally {
    gunzip.destroy();
  }
}

const damagedHeader = (): Error =>
  refuseArchive("a header in it is damaged, or it is not a tar file", "Make it with: tar czf files.tar.gz .");

const notGzip = (cause: unknown): Error =>
  Object.assign(refuseArchive("it is not a valid gzip file", "Make it with: tar czf files.tar.gz ."), {
    cause,
  });

async function* entriesOf(bytes: ByteReader): AsyncGenerator<Packed> {
  let extra: Extra = {};
  for (let count = 0; ; ) {
    const block = await bytes.take(blockBytes);
    if (isZero(block)) return;
    const { name, size, type, mode, linkName } = readHeader(block, extra);
    if (type === "x" || type === "g" || type === "L" || type === "K") {
      if (size > maxExtraBytes) throw refuseArchive("an extended header in it is too large");
      const body = await bytes.takePadded(size);
      extra = withExtra(extra, type, body);
      continue;
    }
    extra = {};
    count += 1;
    if (count > archiveLimits.maxEntries)
      throw refuseArchive(`it has more than ${archiveLimits.maxEntries} entries`);
    yield await readEntry(bytes, { name, size, type, mode, linkName });
  }
}

interface Header {
  readonly name: Buffer;
  readonly size: number;
  readonly type: string;
  readonly mode: number;
  readonly linkName: Buffer;
}

/** Data about an entry from the headers before it. */
interface Extra {
  readonly path?: Buffer;
  readonly linkpath?: Buffer;
  readonly size?: number;
}

async function readEntry(bytes: ByteReader, { name, size, type, mode, linkName }: Header): Promise<Packed> {
  switch (type) {
    case "0":
    case "7":
    case "\0": {
      if (name.at(-1) === slash) return { kind: "folder", name };
      const isExecutable = (mode & 0o111) !== 0;
      if (size <= baseLimits.maxFileBytes)
        return { kind: "file", name, isExecutable, content: await bytes.takePadded(size) };
      await bytes.skip(size + paddingOf(size));
      return { kind: "file", name, isExecutable, content: undefined };
    }
    case "2":
      return { kind: "link", name, target: linkName };
    case "5":
      return { kind: "folder", name };
    case "1":
      throw refuseArchive(`${shown(name)} is a hard link`, "Pack the files with: tar --hard-dereference");
    case "3":
    case "4":
    case "6":
      throw refuseArchive(`${shown(name)} is a device or a pipe`, "Pack files, folders and links only.");
    default:
      throw refuseArchive(
        `${shown(name)} has a type that is not supported`,
        "Pack the files with: tar --format=pax",
      );
  }
}

function readHeader(block: Buffer, extra: Extra): Header {
  const sum = readNumber(block.subarray(148, 156));
  const blank = Buffer.concat([block.subarray(0, 148), Buffer.alloc(8, " "), block.subarray(156)]);
  if (sum !== blank.reduce((total, byte) => total + byte, 0)) throw damagedHeader();
  const isPosix = block.subarray(257, 263).toString("latin1") === "ustar\0";
  const prefix = isPosix ? textOf(block.subarray(345, 500)) : Buffer.alloc(0);
  const short = textOf(block.subarray(0, 100));
  const joined = prefix.length === 0 ? short : Buffer.concat([prefix, Buffer.from("/"), short]);
  return {
    name: extra.path ?? joined,
    size: extra.size ?? readNumber(block.subarray(124, 136)),
    type: block.subarray(156, 157).toString("latin1"),
    mode: readNumber(block.subarray(100, 108)),
    linkName: extra.linkpath ?? textOf(block.subarray(157, 257)),
  };
}

function withExtra(extra: Extra, type: string, body: Buffer): Extra {
  if (type === "L") return { ...extra, path: textOf(body) };
  if (type === "K") return { ...extra, linkpath: textOf(body) };
  const records = readRecords(body);
  const [path, linkpath, size] = [records.get("path"), records.get("linkpath"), records.get("size")];
  if ([...records.keys()].some((key) => key.startsWith("GNU.sparse")))
    throw refuseArchive("it has sparse files", "Pack them without --sparse.");
  if (type === "g") {
    if (path !== undefined || linkpath !== undefined || size !== undefined)
      throw refuseArchive("it gives one name or size to all of its files");
    return extra;
  }
  return {
    ...extra,
    ...(path !== undefined && { path }),
    ...(linkpath !== undefined && { linkpath }),
    ...(size !== undefined && { size: readSize(size) }),
  };
}

/** `<length> <key>=<value>` and a line end. The length covers all of it. */
function readRecords(body: Buffer): ReadonlyMap<string, Buffer> {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < body.length; ) {
    const [, digits = ""] = /^(\d{1,6}) /.exec(body.subarray(at, at + 8).toString("latin1")) ?? [];
    const length = Number(digits);
    const record = body.subarray(at + digits.length + 1, at + length - 1);
    const equals = record.indexOf("=");
    if (digits === "" || at + length > body.length || equals < 1 || body[at + length - 1] !== newline)
      throw refuseArchive("an extended header in it is damaged");
    records.set(record.subarray(0, equals).toString(), record.subarray(equals + 1));
    at += length;
  }
  return records;
}

const slash = 0x2f;
const newline = 0x0a;

function readSize(text: Buffer): number {
  const size = /^\d{1,15}$/.test(text.toString("latin1")) ? Number(text.toString("latin1")) : Number.NaN;
  if (!Number.isSafeInteger(size)) throw refuseArchive("a size in it is not a number");
  return size;
}

/** Octal digits, or a binary number if the first bit is set. */
function readNumber(field: Buffer): number {
  const first = field[0] ?? 0;
  if (first & 0x80) {
    const value = field.subarray(1).reduce((total, byte) => total * 256 + byte, first & 0x7f);
    if (Number.isSafeInteger(value)) return value;
    throw refuseArchive("a number in it is too large");
  }
  const text = field
    .toString("latin1")
    .replace(/[\0 ]+$/, "")
    .trim();
  if (!/^[0-7]*$/.test(text)) throw damagedHeader();
  return text === "" ? 0 : Number.parseInt(text, 8);
}

function textOf(field: Buffer): Buffer {
  const end = field.indexOf(0);
  return end === -1 ? field : field.subarray(0, end);
}

const isZero = (block: Buffer): boolean => block.every((byte) => byte === 0);
const paddingOf = (size: number): number => (blockBytes - (size % blockBytes)) % blockBytes;
const shown = (name: Buffer): string => JSON.stringify(name.toString().slice(0, 200));

/** Reads exact numbers of bytes from a stream, and bounds its total. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  #read = 0;

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** Returns a copy, so that the original chunk can be freed. */
  async take(size: number): Promise<Buffer> {
    const taken = Buffer.allocUnsafe(size);
    for (let filled = 0; filled < size; ) {
      if (this.#rest.length === 0) await this.#more();
      const copied = this.#rest.copy(taken, filled);
      this.#rest = this.#rest.subarray(copied);
      filled += copied;
    }
    return taken;
  }

  async takePadded(size: number): Promise<Buffer> {
    const taken = await this.take(size);
    await this.skip(paddingOf(size));
    return taken;
  }

  async skip(size: number): Promise<void> {
    for (let left = size; left > 0; ) {
      if (this.#rest.length === 0) await this.#more();
      const passed = Math.min(left, this.#rest.length);
      this.#rest = this.#rest.subarray(passed);
      left -= passed;
    }
  }

  async drain(): Promise<void> {
    while (await this.#next());
  }

  async #more(): Promise<void> {
    if (!(await this.#next())) throw truncated();
  }

  async #next(): Promise<boolean> {
    const { value, done } = await this.#chunks.next();
    if (done === true) return false;
    this.#read += value.length;
    if (this.#read > archiveLimits.maxUnpackedBytes)
      throw refuseArchive(`it unpacks to more than ${archiveLimits.maxUnpackedBytes} bytes`);
    this.#rest = value;
    return true;
  }
}
