import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { type ArchiveEntry, unixModes } from "./archive-entry.ts";

const blockBytes = 512;
const longestName = 100;
const permissions = 0o777;

/** A tar.gz of the entries. Equal entries and times give equal bytes. */
export function writeTarGz(entries: AsyncIterable<ArchiveEntry>, modifiedAt: number): AsyncIterable<Buffer> {
  return Readable.from(tarBlocks(entries, Math.floor(modifiedAt / 1000)))
    .on("error", () => undefined)
    .compose(createGzip());
}

async function* tarBlocks(entries: AsyncIterable<ArchiveEntry>, time: number): AsyncGenerator<Buffer> {
  for await (const { path, mode, content } of entries) {
    const target = mode === "link" ? content : Buffer.alloc(0);
    const records = [
      ...(needsRecord(Buffer.from(path)) ? [record("path", Buffer.from(path))] : []),
      ...(needsRecord(target) ? [record("linkpath", target)] : []),
    ];
    if (records.length > 0) {
      const extended = Buffer.concat(records);
      yield header({ name: Buffer.from("pax"), type: "x", size: extended.length, mode: 0o644, time });
      yield padded(extended);
    }
    const size = mode === "link" ? 0 : content.length;
    const type = mode === "link" ? "2" : "0";
    yield header({
      name: Buffer.from(path),
      target,
      type,
      size,
      mode: unixModes[mode] & permissions,
      time,
    });
    if (size > 0) yield padded(content);
  }
  yield Buffer.alloc(2 * blockBytes);
}

interface Header {
  readonly name: Buffer;
  readonly target?: Buffer;
  /** "0" is a file, "2" a link, "x" the extended header of the entry after it. */
  readonly type: "0" | "2" | "x";
  readonly size: number;
  readonly mode: number;
  readonly time: number;
}

function header({ name, target = Buffer.alloc(0), type, size, mode, time }: Header): Buffer {
  const block = Buffer.alloc(blockBytes);
  name.copy(block, 0, 0, longestName);
  octal(mode).copy(block, 100);
  octal(0).copy(block, 108);
  octal(0).copy(block, 116);
  octal(size, 12).copy(block, 124);
  octal(time, 12).copy(block, 136);
  block.write(" ".repeat(8), 148);
  block.write(type, 156);
  target.copy(block, 157, 0, longestName);
  block.write("ustar\x0000", 257, "latin1");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

const octal = (value: number, width = 8): Buffer =>
  Buffer.from(`${value.toString(8).padStart(width - 1, "0")}\0`, "latin1");

/** The header fields hold 100 ASCII bytes. Anything else needs an extended header. */
const needsRecord = (text: Buffer): boolean =>
  text.length > longestName || text.some((byte) => byte > 0x7e || byte < 0x20);

/** Its length counts itself. */
function record(key: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from("\n")]);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function padded(content: Buffer): Buffer {
  const short = content.length % blockBytes;
  return short === 0 ? content : Buffer.concat([content, Buffer.alloc(blockBytes - short)]);
}
