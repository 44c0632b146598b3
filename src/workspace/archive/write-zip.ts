import { promisify } from "node:util";
import { crc32, deflateRaw } from "node:zlib";
import { type ArchiveEntry, unixModes } from "./archive-entry.ts";

const deflate = promisify(deflateRaw);

const signatures = {
  local: 0x04034b50,
  central: 0x02014b50,
  end: 0x06054b50,
  end64: 0x06064b50,
  locator64: 0x07064b50,
} as const;
const methods = { stored: 0, deflated: 8 } as const;
const utf8Names = 0x0800;
const madeByUnix = (3 << 8) | 45;
const versionNeeded = { plain: 20, zip64: 45 } as const;
const most16 = 0xffff;
const most32 = 0xffffffff;
const earliest = Date.UTC(1980, 0, 1);

/** A zip of the entries. Equal entries and times give equal bytes. */
export async function* writeZip(
  entries: AsyncIterable<ArchiveEntry>,
  modifiedAt: number,
): AsyncGenerator<Buffer> {
  const time = dosTime(modifiedAt);
  const central: Buffer[] = [];
  let offset = 0;
  for await (const entry of entries) {
    const name = Buffer.from(entry.path);
    const { content, mode } = entry;
    const deflated = await deflate(content);
    const isSmaller = deflated.length < content.length;
    const data = isSmaller ? deflated : content;
    const shared = sharedHeader({
      method: isSmaller ? methods.deflated : methods.stored,
      time,
      crc: crc32(content),
      packed: data.length,
      size: content.length,
      name,
    });
    central.push(centralHeader(shared, name, unixModes[mode], offset));
    const local = Buffer.alloc(6);
    local.writeUInt32LE(signatures.local);
    local.writeUInt16LE(versionNeeded.plain, 4);
    const head = Buffer.concat([local, shared, Buffer.alloc(2), name]);
    yield head;
    yield data;
    offset += head.length + data.length;
  }
  const directory = Buffer.concat(central);
  yield directory;
  yield endOf(central.length, directory.length, offset);
}

interface SharedHeader {
  readonly method: number;
  readonly time: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly name: Buffer;
}

/** The part that a local header shares with its copy in the directory, from the flags to the length of the name. */
function sharedHeader({ method, time, crc, packed, size, name }: SharedHeader): Buffer {
  const part = Buffer.alloc(22);
  part.writeUInt16LE(utf8Names, 0);
  part.writeUInt16LE(method, 2);
  part.writeUInt32LE(time, 4);
  part.writeUInt32LE(crc, 8);
  part.writeUInt32LE(packed, 12);
  part.writeUInt32LE(size, 16);
  part.writeUInt16LE(name.length, 20);
  return part;
}

function centralHeader(shared: Buffer, name: Buffer, unixMode: number, offset: number): Buffer {
  const extra = offset < most32 ? Buffer.alloc(0) : farOffset(offset);
  const head = Buffer.alloc(8);
  head.writeUInt32LE(signatures.central);
  head.writeUInt16LE(madeByUnix, 4);
  head.writeUInt16LE(extra.length === 0 ? versionNeeded.plain : versionNeeded.zip64, 6);
  const rest = Buffer.alloc(16);
  rest.writeUInt16LE(extra.length, 0);
  rest.writeUInt32LE((unixMode << 16) >>> 0, 8);
  rest.writeUInt32LE(Math.min(offset, most32), 12);
  return Buffer.concat([head, shared, rest, name, extra]);
}

/** The extra field of zip64, with the offset alone, because no single file needs a 64-bit size. */
function farOffset(offset: number): Buffer {
  const extra = Buffer.alloc(12);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(8, 2);
  extra.writeBigUInt64LE(BigInt(offset), 4);
  return extra;
}

function endOf(count: number, directoryBytes: number, offset: number): Buffer {
  const isLarge = count >= most16 || directoryBytes >= most32 || offset >= most32;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(signatures.end);
  end.writeUInt16LE(Math.min(count, most16), 8);
  end.writeUInt16LE(Math.min(count, most16), 10);
  end.writeUInt32LE(Math.min(directoryBytes, most32), 12);
  end.writeUInt32LE(Math.min(offset, most32), 16);
  return isLarge ? Buffer.concat([end64(count, directoryBytes, offset), end]) : end;
}

function end64(count: number, directoryBytes: number, offset: number): Buffer {
  const end = Buffer.alloc(56);
  end.writeUInt32LE(signatures.end64);
  end.writeBigUInt64LE(44n, 4);
  end.writeUInt16LE(madeByUnix, 12);
  end.writeUInt16LE(versionNeeded.zip64, 14);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(directoryBytes), 40);
  end.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(signatures.locator64);
  locator.writeBigUInt64LE(BigInt(offset + directoryBytes), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([end, locator]);
}

/** In UTC, so that the bytes do not depend on the server's time zone. The resolution is two seconds. */
function dosTime(time: number): number {
  const at = new Date(Math.max(time, earliest));
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const clock = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return ((date << 16) | clock) >>> 0;
}
