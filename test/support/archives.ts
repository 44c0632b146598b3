import { crc32, deflateRawSync, gzipSync } from "node:zlib";

/** One entry of a tar as a test wants it, also where no honest program would write it so. */
export interface TarEntry {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** "0" unless given: a file. */
  readonly type?: string;
  readonly mode?: number;
  readonly target?: string;
  /** Where it is not the size of the content. */
  readonly size?: number;
  readonly checksum?: number;
}

export const tarGz = (entries: readonly TarEntry[], { end = true } = {}): Buffer =>
  gzipSync(Buffer.concat([...entries.map(tarEntry), ...(end ? [Buffer.alloc(1024)] : [])]));

function tarEntry({
  name,
  content = "",
  type = "0",
  mode = 0o644,
  target = "",
  size,
  checksum,
}: TarEntry): Buffer {
  const body = Buffer.from(content as string);
  const header = Buffer.alloc(512);
  Buffer.from(name as string).copy(header, 0, 0, 100);
  header.write(`${mode.toString(8).padStart(7, "0")}\0`, 100, "latin1");
  header.write(`${(size ?? body.length).toString(8).padStart(11, "0")}\0`, 124, "latin1");
  header.write("00000000000\0", 136, "latin1");
  header.write(" ".repeat(8), 148, "latin1");
  header.write(type, 156, "latin1");
  header.write(target, 157, 100, "utf8");
  header.write("ustar\x0000", 257, "latin1");
  const sum = checksum ?? header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}

/** A record of an extended header; its length counts itself. */
export function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  const length = [1, 2, 3, 4, 5]
    .map((digits) => bytes + digits)
    .find((sum) => String(sum).length + bytes === sum);
  return `${length}${rest}`;
}

/** One entry of a zip; each field can lie. */
export interface ZipEntry {
  readonly name: string;
  readonly content?: string | Buffer;
  readonly method?: number;
  readonly flags?: number;
  /** As `stat` has it. */
  readonly mode?: number;
  readonly host?: number;
  /** In both headers, where it is not the size of the content. */
  readonly size?: number;
  readonly crc?: number;
  readonly localName?: string;
  /** Where the directory says that it starts. */
  readonly offset?: number;
}

export function zip(entries: readonly ZipEntry[], { count = entries.length, comment = "" } = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { local, central } = zipEntry(entry, entry.offset ?? offset);
    parts.push(local);
    directory.push(central);
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...parts, listed, end, Buffer.from(comment)]);
}

function zipEntry(entry: ZipEntry, offset: number): { readonly local: Buffer; readonly central: Buffer } {
  const { name, content = "", method = 8, flags = 0x0800, mode = 0o100644, host = 3 } = entry;
  const body = Buffer.from(content as string);
  const data = method === 8 ? deflateRawSync(body) : body;
  const shared = Buffer.alloc(22);
  shared.writeUInt16LE(flags, 0);
  shared.writeUInt16LE(method, 2);
  shared.writeUInt32LE(entry.crc ?? crc32(body), 8);
  shared.writeUInt32LE(data.length, 12);
  shared.writeUInt32LE(entry.size ?? body.length, 16);
  const named = (text: string) => {
    const copy = Buffer.from(shared);
    copy.writeUInt16LE(Buffer.byteLength(text), 20);
    return copy;
  };
  const head = Buffer.alloc(6);
  head.writeUInt32LE(0x04034b50);
  const localName = entry.localName ?? name;
  const local = Buffer.concat([head, named(localName), Buffer.alloc(2), Buffer.from(localName), data]);
  const begins = Buffer.alloc(8);
  begins.writeUInt32LE(0x02014b50);
  begins.writeUInt16LE((host << 8) | 20, 4);
  const rest = Buffer.alloc(16);
  rest.writeUInt32LE((mode << 16) >>> 0, 8);
  rest.writeUInt32LE(offset, 12);
  return { local, central: Buffer.concat([begins, named(name), rest, Buffer.from(name)]) };
}
