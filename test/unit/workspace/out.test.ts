import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { InputInvalid } from "../../../src/domain/errors.ts";
import { writeOut } from "../../../src/workspace/out.ts";
import { MemoryBlobs } from "./counted-blobs.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const manifest = ".maestro-out.json";

class Place {
  readonly blobs = new MemoryBlobs();
  readonly target = join(temporaryDirectory(), "out");

  write(files: Record<string, string>) {
    return writeOut(this.blobs.tree(files), this.blobs, this.target);
  }

  at(...names: string[]): string {
    return join(this.target, ...names);
  }

  put(path: string, content: string): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), content);
  }

  /** All files but the list itself. */
  files(): Record<string, string> {
    const paths = readdirSync(this.target, { recursive: true, encoding: "utf8" });
    return Object.fromEntries(
      paths
        .filter((path) => path !== manifest && lstatSync(this.at(path)).isFile())
        .sort()
        .map((path) => [path, readFileSync(this.at(path), "utf8")]),
    );
  }

  /** Leftovers beside the folder; there must be none. */
  siblings(): string[] {
    return readdirSync(dirname(this.target)).filter((name) => name !== "out");
  }
}

describe("a folder that is new or empty", () => {
  test("has the whole tree, with executable files executable, and nothing else is left", async () => {
    const place = new Place();
    expect(await place.write({ "a.txt": "a", "b/c/d.txt": "d", "run.sh*": "#!" })).toEqual({
      written: ["a.txt", "b/c/d.txt", "run.sh"],
      removed: [],
      kept: [],
    });
    expect(place.files()).toEqual({ "a.txt": "a", "b/c/d.txt": "d", "run.sh": "#!" });
    expect([statSync(place.at("run.sh")).mode & 0o100, statSync(place.at("a.txt")).mode & 0o100]).toEqual([
      0o100, 0,
    ]);
    expect(place.siblings()).toEqual([]);
  });

  test("keeps its mode when it was there already", async () => {
    const place = new Place();
    mkdirSync(place.target);
    chmodSync(place.target, 0o750);
    await place.write({ a: "a" });
    expect(statSync(place.target).mode & 0o777).toBe(0o750);
  });

  test("is made with all the folders above it", async () => {
    const blobs = new MemoryBlobs();
    const target = join(temporaryDirectory(), "x", "y", "z");
    await writeOut(blobs.tree({ a: "a" }), blobs, target);
    expect(readFileSync(join(target, "a"), "utf8")).toBe("a");
  });

  test("is not made at all when a file cannot be had", async () => {
    const place = new Place();
    const tree = new Map([
      ...place.blobs.tree({ a: "a" }),
      ["b", { sha256: "0".repeat(64), bytes: 1, mode: "file" }] as const,
    ]);
    await expect(writeOut(tree, place.blobs, place.target)).rejects.toThrow("no blob");
    expect([existsSync(place.target), place.siblings()]).toEqual([false, []]);
  });
});

describe("the next version", () => {
  test("replaces and removes files that Maestro made and no one changed, with folders that become empty", async () => {
    const place = new Place();
    await place.write({ "a.txt": "1", "old/deep/b.txt": "b", "same.txt": "s" });
    expect(await place.write({ "a.txt": "2", "same.txt": "s", "new/c.txt": "c" })).toEqual({
      written: ["a.txt", "new/c.txt"],
      removed: ["old/deep/b.txt"],
      kept: [],
    });
    expect(place.files()).toEqual({ "a.txt": "2", "new/c.txt": "c", "same.txt": "s" });
    expect([existsSync(place.at("old")), place.siblings()]).toEqual([false, []]);
  });

  test("changes nothing when there is nothing to change, not even a time", async () => {
    const place = new Place();
    await place.write({ "a.txt": "1", "b/c.txt": "c" });
    const before = [".", "a.txt", "b", "b/c.txt", manifest].map((path) => statSync(place.at(path)).mtimeMs);
    expect(await place.write({ "a.txt": "1", "b/c.txt": "c" })).toEqual({
      written: [],
      removed: [],
      kept: [],
    });
    expect([".", "a.txt", "b", "b/c.txt", manifest].map((path) => statSync(place.at(path)).mtimeMs)).toEqual(
      before,
    );
  });

  test("makes a file executable that was not", async () => {
    const place = new Place();
    await place.write({ "run.sh": "#!" });
    expect((await place.write({ "run.sh*": "#!" })).written).toEqual(["run.sh"]);
    expect(statSync(place.at("run.sh")).mode & 0o100).toBe(0o100);
  });

  test("comes back whole after a person emptied the folder and left the list", async () => {
    const place = new Place();
    await place.write({ "a.txt": "1", "b/c.txt": "c" });
    rmSync(place.at("a.txt"));
    rmSync(place.at("b"), { recursive: true });
    expect((await place.write({ "a.txt": "1", "b/c.txt": "c" })).written).toEqual(["a.txt", "b/c.txt"]);
  });
});

describe("a person's own files", () => {
  test("that were there before are kept; the new version lies beside them and is ours from then on", async () => {
    const place = new Place();
    place.put("README.md", "mine");
    place.put("notes/private.txt", "mine too");
    expect(await place.write({ "README.md": "1", "src/a.ts": "a" })).toEqual({
      written: ["README.md.maestro-new", "src/a.ts"],
      removed: [],
      kept: [{ path: "README.md", reason: "it was there before", beside: "README.md.maestro-new" }],
    });
    expect((await place.write({ "README.md": "2", "src/a.ts": "a" })).written).toEqual([
      "README.md.maestro-new",
    ]);
    expect((await place.write({ "src/a.ts": "a" })).removed).toEqual(["README.md.maestro-new"]);
    await place.write({});
    expect(place.files()).toEqual({ "README.md": "mine", "notes/private.txt": "mine too" });
  });

  test("that equal what is written are not taken over: they are never removed", async () => {
    const place = new Place();
    place.put("LICENSE", "MIT");
    expect(await place.write({ LICENSE: "MIT" })).toEqual({ written: [], removed: [], kept: [] });
    expect(await place.write({})).toEqual({ written: [], removed: [], kept: [] });
    expect(place.files()).toEqual({ LICENSE: "MIT" });
  });

  test("changed after Maestro wrote them are kept, whether the new version has them or not", async () => {
    const place = new Place();
    await place.write({ "a.txt": "1", "b.txt": "1" });
    place.put("a.txt", "mine");
    place.put("b.txt", "mine");
    expect(await place.write({ "a.txt": "2" })).toEqual({
      written: ["a.txt.maestro-new"],
      removed: [],
      kept: [
        { path: "a.txt", reason: "it was changed by hand", beside: "a.txt.maestro-new" },
        { path: "b.txt", reason: "it was changed by hand and is no longer needed" },
      ],
    });
    expect(place.files()).toEqual({ "a.txt": "mine", "a.txt.maestro-new": "2", "b.txt": "mine" });
  });

  test("are not bothered with a version they have seen: unchanged, or offered and thrown away", async () => {
    const place = new Place();
    await place.write({ "a.txt": "1" });
    place.put("a.txt", "mine");
    expect(await place.write({ "a.txt": "1" })).toMatchObject({ written: [], kept: [{ path: "a.txt" }] });
    await place.write({ "a.txt": "2" });
    rmSync(place.at("a.txt.maestro-new"));
    expect((await place.write({ "a.txt": "2" })).written).toEqual([]);
    expect((await place.write({ "a.txt": "3" })).written).toEqual(["a.txt.maestro-new"]);
    expect(place.files()).toEqual({ "a.txt": "mine", "a.txt.maestro-new": "3" });
  });

  test("beside ours stay, and so does the folder they are in", async () => {
    const place = new Place();
    await place.write({ "src/a.ts": "a" });
    place.put("src/mine.ts", "mine");
    expect((await place.write({})).removed).toEqual(["src/a.ts"]);
    expect(place.files()).toEqual({ "src/mine.ts": "mine" });
  });

  test("an edited version beside is kept too", async () => {
    const place = new Place();
    place.put("a", "mine");
    await place.write({ a: "1" });
    place.put("a.maestro-new", "edited");
    const { written, kept } = await place.write({ a: "2" });
    expect([written, kept.map(({ path, beside }) => [path, beside])]).toEqual([
      [],
      [
        ["a", undefined],
        ["a.maestro-new", undefined],
      ],
    ]);
    expect(place.files()).toEqual({ a: "mine", "a.maestro-new": "edited" });
  });
});

describe("links and other things in the way", () => {
  test("a link in place of the folder is refused", async () => {
    const place = new Place();
    const outside = temporaryDirectory();
    symlinkSync(outside, place.target);
    await expect(place.write({ a: "a" })).rejects.toThrow(InputInvalid);
    expect(readdirSync(outside)).toEqual([]);
  });

  test("links inside are kept and not followed, neither to write nor to remove", async () => {
    const place = new Place();
    const outside = temporaryDirectory();
    await place.write({ "dir/a.txt": "1", "file.txt": "1" });
    renameSync(place.at("dir"), join(outside, "dir"));
    symlinkSync(join(outside, "dir"), place.at("dir"));
    renameSync(place.at("file.txt"), join(outside, "file.txt"));
    symlinkSync(join(outside, "file.txt"), place.at("file.txt"));
    const { written, kept } = await place.write({ "dir/a.txt": "2", "dir/b.txt": "2", "file.txt": "2" });
    expect(written).toEqual(["file.txt.maestro-new"]);
    expect(kept.map(({ path }) => path)).toEqual(["dir/a.txt", "dir/b.txt", "file.txt"]);
    expect((await place.write({})).removed).toEqual(["file.txt.maestro-new"]);
    expect(readFileSync(join(outside, "dir", "a.txt"), "utf8")).toBe("1");
    expect(readFileSync(join(outside, "file.txt"), "utf8")).toBe("1");
    expect(readdirSync(join(outside, "dir"))).toEqual(["a.txt"]);
  });

  test("a hard link to a file elsewhere is replaced, never written through", async () => {
    const place = new Place();
    await place.write({ "a.txt": "1" });
    const twin = join(temporaryDirectory(), "twin");
    linkSync(place.at("a.txt"), twin);
    expect((await place.write({ "a.txt": "2" })).written).toEqual(["a.txt"]);
    expect([readFileSync(twin, "utf8"), place.files()]).toEqual(["1", { "a.txt": "2" }]);
  });

  test("a file where a folder is needed, and a folder where a file is, stay", async () => {
    const place = new Place();
    place.put("src", "a file");
    place.put("a.txt/inner", "mine");
    const { written, kept } = await place.write({ "src/a.ts": "a", "a.txt": "a" });
    expect([written, kept.map(({ path }) => path)]).toEqual([["a.txt.maestro-new"], ["src/a.ts", "a.txt"]]);
    expect(place.files()).toMatchObject({ src: "a file", "a.txt/inner": "mine" });
  });

  test("a tree cannot forge the list", async () => {
    const place = new Place();
    place.put("mine", "mine");
    const forged = JSON.stringify({ format: 1, files: { mine: [] }, offered: {}, folders: [] });
    expect((await place.write({ [manifest]: forged, a: "a" })).kept).toHaveLength(1);
    expect(
      Object.keys((JSON.parse(readFileSync(place.at(manifest), "utf8")) as { files: object }).files),
    ).toEqual(["a"]);
  });

  test.each([
    ["not JSON", "{"],
    ["another's", "{}"],
    ["from a newer version", '{"format": 2}'],
    [
      "leading outside",
      JSON.stringify({ format: 1, files: { "../x": ["0".repeat(64)] }, offered: {}, folders: [] }),
    ],
  ])("a list that is %s stops it before anything is touched", async (_, text) => {
    const place = new Place();
    await place.write({ a: "1" });
    writeFileSync(place.at(manifest), text);
    await expect(place.write({ a: "2" })).rejects.toThrow(InputInvalid);
    expect([place.files(), readFileSync(place.at(manifest), "utf8"), place.siblings()]).toEqual([
      { a: "1" },
      text,
      [],
    ]);
  });
});
