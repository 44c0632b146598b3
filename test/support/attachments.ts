import { crc32, deflateSync } from "node:zlib";

/** A real PNG of one color, so that browsers show it. `seed`: makes its bytes its own. */
export function png(width = 8, height = 8, seed = 0): Buffer {
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 3, 64 + (seed % 128))]);
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  const header = Buffer.concat([size, Buffer.from([8, 2, 0, 0, 0])]);
  const rows = Buffer.concat(Array.from({ length: height }, () => row));
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
