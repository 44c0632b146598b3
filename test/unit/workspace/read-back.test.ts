import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { StorageFailed } from "../../../src/domain/errors.ts";
import { emptyTree } from "../../../src/domain/tree.ts";
import { isIgnoredName, type ReadLimits, readBack } from "../../../src/workspace/read-back.ts";
import { materialize } from "../../../src/workspace/write-tree.ts";
import { MemoryBlobs } from "./counted-blobs.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

async function workspace(files: Record<string, string>) {
  const blobs = new MemoryBlobs();
  const base = blobs.tree(files);
  const directory = join(temporaryDirectory(), "workspace");
  await materialize(base, blobs, directory);
  const at = (...names: string[]): string => join(directory, ...names);
  return {
    blobs,
    base,
    directory,
    at,
    read: (limits: Partial<ReadLimits> = {}) => readBack(directory, base, blobs, limits),
  };
}

describe("the changes of a command", () => {
  test("files made, changed, moved, removed and made executable are the changes, and only new contents are stored", async () => {
    const { blobs, at, read } = await workspace({
      "same.txt": "same",
      "old.txt": "old",
      "gone.txt": "gone",
      "run.sh": "#!",
    });
    writeFileSync(at("old.txt"), "new");
    rmSync(at("gone.txt"));
    mkdirSync(at("made", "deep"), { recursive: true });
    writeFileSync(at("made", "deep", "ü.txt"), "made");
    chmodSync(at("run.sh"), 0o755);
    const { tree, changes, refused } = await read();
    expect(blobs.read(tree)).toEqual({
      "made/deep/ü.txt": "made",
      "old.txt": "new",
      "run.sh": "#!",
      "same.txt": "same",
    });
    expect(changes.map(({ path, after }) => [path, after?.bytes, after?.mode])).toEqual([
      ["gone.txt", undefined, undefined],
      ["made/deep/ü.txt", 4, "file"],
      ["old.txt", 3, "file"],
      ["run.sh", 2, "executable"],
    ]);
    expect(refused).toEqual([]);
    expect(blobs.puts).toHaveLength(2);
  });

  test("tools' own folders are left out at any depth, and what the base had there stays", async () => {
    const { blobs, at, read } = await workspace({ "a.txt": "a", "lib/node_modules/own.js": "own" });
    for (const name of [
      ".git",
      "node_modules",
      ".maestro",
      ".maestro-cache",
      "lib/.git",
      "lib/node_modules",
    ]) {
      mkdirSync(at(name), { recursive: true });
      writeFileSync(at(name, "x"), "x");
    }
    writeFileSync(at("lib", "node_modules", "own.js"), "changed");
    const { tree, changes, refused } = await read();
    expect(blobs.read(tree)).toEqual({ "a.txt": "a", "lib/node_modules/own.js": "own" });
    expect([changes, refused]).toEqual([[], []]);
    expect([".gitignore", "node_modules2", ".maestrorc"].filter(isIgnoredName)).toEqual([]);
  });
});

describe("refused files are listed and change nothing", () => {
  test("links that lead out, and hard links: what was there before stays, what they point to never gets in", async () => {
    const outside = temporaryDirectory();
    writeFileSync(join(outside, "secret.txt"), "secret");
    const { blobs, at, read } = await workspace({
      "file.txt": "file",
      "folder/a.txt": "a",
      "keep.txt": "keep",
    });
    rmSync(at("file.txt"));
    symlinkSync(join(outside, "secret.txt"), at("file.txt"));
    renameSync(at("folder"), at("moved"));
    symlinkSync(outside, at("folder"));
    symlinkSync("nowhere", at("dangling"));
    symlinkSync(".", at("loop"));
    linkSync(join(outside, "secret.txt"), at("hard.txt"));
    linkSync(at("keep.txt"), at("twin.txt"));
    const { tree, refused } = await read();
    expect(blobs.read(tree)).toEqual({
      "file.txt": "file",
      "folder/a.txt": "a",
      "keep.txt": "keep",
      "moved/a.txt": "a",
      dangling: "nowhere",
      loop: ".",
    });
    expect(tree.get("dangling")?.mode).toBe("link");
    expect(Object.fromEntries(refused.map(({ path, reason }) => [path, reason]))).toEqual({
      "file.txt": "it is a symbolic link that leads out of the workspace",
      folder: "it is a symbolic link that leads out of the workspace",
      "hard.txt": "it is a hard link",
      "keep.txt": "it is a hard link",
      "twin.txt": "it is a hard link",
    });
    expect(blobs.puts).toEqual(["dangling", "loop", "moved/a.txt"].map((path) => tree.get(path)?.sha256));
  });

  test("pipes and sockets, without waiting for the other end", async () => {
    const { at, read } = await workspace({});
    execFileSync("mkfifo", [at("pipe")]);
    const server = createServer().listen(at("socket"));
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const { tree, refused } = await read();
    expect(tree.size).toBe(0);
    expect(refused.map(({ path }) => path)).toEqual(["pipe", "socket"]);
  });

  test.skipIf(process.geteuid?.() !== 0)("devices (needs root)", async () => {
    const { at, read } = await workspace({});
    execFileSync("mknod", [at("zero"), "c", "1", "5"]);
    expect((await read()).refused).toEqual([{ path: "zero", reason: "it is a device, a pipe or a socket" }]);
  });

  test("names that are not UTF-8, not composed, or break the rule for paths, shown without control characters", async () => {
    const { directory, at, read } = await workspace({ é: "composed" });
    writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0x62, 0xff])]), "");
    writeFileSync(at("e\u0301"), "decomposed");
    writeFileSync(at("a\\b"), "");
    writeFileSync(at("red\u001b[31m\n"), "");
    mkdirSync(at(".GIT"));
    writeFileSync(at(".GIT", "config"), "");
    const { tree, refused } = await read();
    expect([...tree.keys()]).toEqual(["é"]);
    expect(refused.map(({ path }) => path).sort()).toEqual(
      [".GIT", "a\\b", "b\ufffd", "e\u0301", "red\\u{1b}[31m\\u{a}"].sort(),
    );
  });

  test("a file over the limit, sparse ones too, without reading it; the base's version stays", async () => {
    const { blobs, at, read } = await workspace({ "big.bin": "small" });
    truncateSync(at("big.bin"), 2 ** 40);
    writeFileSync(at("fits.bin"), "12345");
    const { tree, refused } = await read({ maxFileBytes: 5 });
    expect(blobs.read(tree)).toEqual({ "big.bin": "small", "fits.bin": "12345" });
    expect(refused).toEqual([{ path: "big.bin", reason: `it has ${2 ** 40} bytes, and the limit is 5` }]);
  });

  test("files that are too much together, while smaller ones still fit", async () => {
    const { blobs, at, read } = await workspace({});
    for (const name of ["a", "b", "c"]) writeFileSync(at(name), "12345");
    writeFileSync(at("d"), "1");
    const { tree, refused } = await read({ maxTotalBytes: 11 });
    expect(blobs.read(tree)).toEqual({ a: "12345", b: "12345", d: "1" });
    expect(refused).toEqual([
      { path: "c", reason: "it has 5 bytes, and the limit is 1 (of 11 for all files)" },
    ]);
  });

  test("more entries than the limit: what was not reached counts as untouched, not as removed", async () => {
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index + 10}`, "x"]));
    const { base, at, read } = await workspace({ ...files, z: "was a file" });
    writeFileSync(at("a"), "new");
    const { tree, changes, refused } = await read({ maxEntries: 5 });
    expect(changes.filter(({ after }) => after === undefined)).toEqual([]);
    expect([...base.keys()].filter((path) => !tree.has(path))).toEqual([]);
    expect(refused).toEqual([{ path: ".", reason: "there are more than 5 entries; the rest was not read" }]);
  });

  test("a file that became a folder wins over the base when the scan is cut short", async () => {
    const { at, read } = await workspace({ a: "file", b: "file", c: "file" });
    rmSync(at("a"));
    mkdirSync(at("a"));
    writeFileSync(at("a", "inner"), "x");
    rmSync(at("b"));
    rmSync(at("c"));
    writeFileSync(at("a", "more"), "x");
    const { tree } = await read({ maxEntries: 2 });
    expect([...tree.keys()].filter((path) => path === "a" || path.startsWith("a/"))).toHaveLength(1);
    expect(tree.has("a")).toBe(false);
  });

  test("nesting deeper than a tree may have ends at that depth", async () => {
    const { at, read } = await workspace({});
    mkdirSync(at(...Array<string>(100).fill("d")), { recursive: true });
    const { refused } = await read();
    expect(refused).toHaveLength(1);
    expect(refused[0]?.path.split("/")).toHaveLength(33);
  });
});

test("a store that cannot keep a file is an error, not a refusal", async () => {
  const { directory, at } = await workspace({});
  mkdirSync(at("a"));
  writeFileSync(at("a", "b"), "b");
  const full = {
    put: () => Promise.reject(new StorageFailed("the disk is full")),
    get: () => Promise.reject(new Error("unused")),
  };
  await expect(readBack(directory, emptyTree, full)).rejects.toThrow(StorageFailed);
});

test("a folder that is not there, or is a link, is an error: nothing about the files is known", async () => {
  const { base, blobs, directory } = await workspace({ a: "a" });
  await expect(readBack(`${directory}-not`, base, blobs)).rejects.toThrow("ENOENT");
  symlinkSync(directory, `${directory}-link`);
  await expect(readBack(`${directory}-link`, base, blobs)).rejects.toThrow(/ELOOP|ENOTDIR/);
});
