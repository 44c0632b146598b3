import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { InputInvalid } from "../../../src/domain/errors.ts";
import type { Tree } from "../../../src/domain/tree.ts";
import { readBack } from "../../../src/workspace/read-back.ts";
import { materialize } from "../../../src/workspace/write-tree.ts";
import { MemoryBlobs } from "./counted-blobs.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const newDirectory = (): string => join(temporaryDirectory(), "new");

test("a tree comes back from the disk as it went there, contents and executable bits alike", async () => {
  const blobs = new MemoryBlobs();
  const files: Record<string, string | Buffer> = {
    "a.txt": "a",
    "deep/er/b.bin": Buffer.from([0, 255, 10]),
    "run.sh*": "#!",
  };
  for (let index = 0; index < 300; index += 1) files[`many/${index % 7}/${index}.txt`] = `file ${index}`;
  const tree = blobs.tree(files);
  const directory = newDirectory();
  await materialize(tree, blobs, directory);
  const { tree: again, changes, refused } = await readBack(directory, tree, blobs);
  expect(again).toEqual(tree);
  expect([changes, refused, blobs.puts]).toEqual([[], [], []]);
});

test("modes are exact whatever the umask, and other users cannot enter", async () => {
  const blobs = new MemoryBlobs();
  const directory = newDirectory();
  const before = process.umask(0o077);
  try {
    await materialize(blobs.tree({ "a.txt": "a", "run.sh*": "#!" }), blobs, directory);
  } finally {
    process.umask(before);
  }
  const mode = (path: string): number => statSync(path).mode & 0o7777;
  expect([mode(directory), mode(join(directory, "a.txt")), mode(join(directory, "run.sh"))]).toEqual([
    0o700, 0o644, 0o755,
  ]);
});

test("an empty folder is used, one with a file in it is refused and left as it is", async () => {
  const blobs = new MemoryBlobs();
  const tree = blobs.tree({ "a.txt": "a" });
  const empty = temporaryDirectory();
  await materialize(tree, blobs, empty);
  expect(readdirSync(empty)).toEqual(["a.txt"]);
  await expect(materialize(tree, blobs, empty)).rejects.toThrow(InputInvalid);
  expect(readFileSync(join(empty, "a.txt"), "utf8")).toBe("a");
});

test("a link in place of the folder is refused, and nothing is written where it points", async () => {
  const blobs = new MemoryBlobs();
  const [outside, place] = [temporaryDirectory(), temporaryDirectory()];
  symlinkSync(outside, join(place, "link"));
  await expect(materialize(blobs.tree({ "a.txt": "a" }), blobs, join(place, "link"))).rejects.toThrow(
    InputInvalid,
  );
  writeFileSync(join(place, "file"), "");
  await expect(materialize(blobs.tree({}), blobs, join(place, "file"))).rejects.toThrow(InputInvalid);
  expect(readdirSync(outside)).toEqual([]);
});

test.each([
  "../a",
  "/etc/a",
  "a/../../b",
  "",
  ".",
  "a//b",
  "a\0b",
  "a\\b",
  ".git/config",
  "a/.GIT/x",
  "e\u0301",
  "x".repeat(256),
])("a tree with the path %j is refused before anything is written", async (path) => {
  const blobs = new MemoryBlobs();
  const tree: Tree = new Map([
    ...blobs.tree({ "good.txt": "good" }),
    [path, { sha256: "x", bytes: 1, mode: "file" }],
  ]);
  const directory = newDirectory();
  await expect(materialize(tree, blobs, directory)).rejects.toThrow(InputInvalid);
  expect(existsSync(directory)).toBe(false);
  expect(readdirSync(join(directory, ".."))).toEqual([]);
});

test("a path that is a file and a folder at once is refused", async () => {
  const blobs = new MemoryBlobs();
  const directory = newDirectory();
  await expect(materialize(blobs.tree({ a: "file", "a/b": "in it" }), blobs, directory)).rejects.toThrow(
    InputInvalid,
  );
  expect(existsSync(directory)).toBe(false);
});

test("a blob that cannot be read leaves no half-made folder", async () => {
  const blobs = new MemoryBlobs();
  const tree = new Map([
    ...blobs.tree({ "a.txt": "a", "b/c.txt": "c" }),
    ["x", { sha256: "gone", bytes: 1, mode: "file" }] as const,
  ]);
  const directory = newDirectory();
  await expect(materialize(tree, blobs, directory)).rejects.toThrow("no blob gone");
  expect(existsSync(directory)).toBe(false);
  mkdirSync(directory);
});
