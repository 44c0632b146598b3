import { describe, expect, test } from "vitest";
import { InputInvalid } from "../../../src/domain/errors.ts";
import { emptyTree } from "../../../src/domain/tree.ts";
import { Workspace } from "../../../src/workspace/workspace.ts";
import { MemoryBlobs } from "./memory-blobs.ts";

const text = "Gr\u00fc\u00dfe aus K\u00f6ln.\r\nPreis: 5 Mark\r\nEnde \u00e9t\u00e9";

const encodings: readonly (readonly [string, (text: string) => Buffer])[] = [
  ["UTF-8", (some) => Buffer.from(some)],
  ["UTF-8 with a byte order mark", (some) => Buffer.from(`\ufeff${some}`)],
  ["UTF-16LE", (some) => Buffer.from(`\ufeff${some}`, "utf16le")],
  ["UTF-16BE", (some) => Buffer.from(`\ufeff${some}`, "utf16le").swap16()],
  ["Latin-1", (some) => Buffer.from(some, "latin1")],
];

async function holding(bytes: Uint8Array): Promise<Workspace> {
  const workspace = new Workspace(new MemoryBlobs(), emptyTree);
  await workspace.write("a.txt", bytes);
  return workspace;
}

describe.each(encodings)("a file in %s", (_, encode) => {
  test("is read and found as text", async () => {
    const workspace = await holding(encode(text));
    expect((await workspace.readText("a.txt")).replace("\ufeff", "")).toBe(text);
    expect(await workspace.search("K\u00f6ln")).toMatchObject([{ path: "a.txt", line: 1 }]);
  });

  test("keeps its encoding and its line ends when it is edited", async () => {
    const workspace = await holding(encode(text));
    await workspace.edit("a.txt", [
      { find: "Preis: 5 Mark\nEnde", replace: "Preis: 7 Mark\nund m\u00f6glich\nEnde" },
    ]);
    const expected = text.replace("5 Mark\r\n", "7 Mark\r\nund m\u00f6glich\r\n");
    expect(await workspace.read("a.txt")).toEqual(encode(expected));
  });

  test("keeps its encoding when it is written anew", async () => {
    const workspace = await holding(encode(text));
    await workspace.writeText("a.txt", "K\u00f6lner Dom");
    expect(await workspace.read("a.txt")).toEqual(encode("K\u00f6lner Dom"));
  });
});

test("the characters that windows-1252 has beyond Latin-1 are kept", async () => {
  const bytes = Buffer.from([0x93, 0x61, 0x94, 0x20, 0x80, 0x35, 0x20, 0x96, 0x20, 0xe9]);
  const workspace = await holding(bytes);
  expect(await workspace.readText("a.txt")).toBe("\u201ca\u201d \u20ac5 \u2013 \u00e9");
  await workspace.edit("a.txt", [{ find: "\u20ac5", replace: "\u20ac6\u2026" }]);
  expect([...(await workspace.read("a.txt"))]).toEqual([
    0x93, 0x61, 0x94, 0x20, 0x80, 0x36, 0x85, 0x20, 0x96, 0x20, 0xe9,
  ]);
});

test("an edit with characters that the encoding has not is refused, and not a byte changes", async () => {
  const bytes = Buffer.from("caf\u00e9", "latin1");
  const workspace = await holding(bytes);
  for (const replace of ["tea \u2192", "\u672c", "\u0085"]) {
    const edit = workspace.edit("a.txt", [{ find: "caf", replace }]);
    await expect(edit).rejects.toThrow(InputInvalid);
    await expect(edit).rejects.toThrow("it is in windows-1252");
  }
  expect(await workspace.read("a.txt")).toEqual(bytes);
});

test("every byte that is not replaced stays, whatever the bytes are", async () => {
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  for (const byte of all) {
    const bytes = Buffer.from([0x61, byte, 0x20, 0xe9, 0x20, 0x7a]);
    const workspace = await holding(bytes);
    const edited = await workspace.edit("a.txt", [{ find: "z", replace: "y" }]).then(
      () => true,
      (error: unknown) => !InputInvalid.is(error),
    );
    const expected = edited ? Buffer.concat([bytes.subarray(0, -1), Buffer.from("y")]) : bytes;
    expect(await workspace.read("a.txt")).toEqual(expected);
  }
});

test.each([
  ["windows-1251", [0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x2c, 0x20, 0xec, 0xe8, 0xf0, 0x21]],
  ["KOI8-R", [0xf0, 0xd2, 0xc9, 0xd7, 0xc5, 0xd4, 0x2c, 0x20, 0xcd, 0xc9, 0xd2, 0x21]],
  ["ISO-8859-7", [0xe3, 0xe5, 0xe9, 0xe1, 0x20, 0xf3, 0xef, 0xf5, 0x20, 0x3d, 0x20, 0x31]],
  ["GBK", [0xc4, 0xe3, 0xba, 0xc3, 0xca, 0xc0, 0xbd, 0xe7]],
])("a text in %s is not taken for another one", async (_, bytes) => {
  const workspace = await holding(Buffer.from([...Buffer.from("# name: "), ...bytes]));
  await expect(workspace.readText("a.txt")).rejects.toThrow("is not a text in UTF-8, UTF-16 or windows-1252");
  expect(await workspace.search("name")).toEqual([]);
});

test("accented letters side by side do not make a text of another alphabet", async () => {
  const source = "/[a-z\u00e4\u00f6\u00fc\u00df]/ // K\u00f6ln, M\u00fcnchen; cr\u00e9\u00e9e";
  const workspace = await holding(Buffer.from(source, "latin1"));
  expect(await workspace.readText("a.txt")).toBe(source);
});

test("a file that is written anew with other characters, and a new one, are in UTF-8", async () => {
  const workspace = await holding(Buffer.from("caf\u00e9", "latin1"));
  await workspace.writeText("a.txt", "caf\u00e9 \u2192");
  await workspace.writeText("b.txt", "caf\u00e9");
  expect(await workspace.read("a.txt")).toEqual(Buffer.from("caf\u00e9 \u2192"));
  expect(await workspace.read("b.txt")).toEqual(Buffer.from("caf\u00e9"));
});
