import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sha256 } from "../../../src/domain/canonical.ts";
import { ArtifactCorrupt, InputInvalid } from "../../../src/domain/errors.ts";
import { emptyTree, emptyTreeHash, toManifest, treeHash } from "../../../src/domain/tree.ts";
import { treeLimits } from "../../../src/domain/tree-path.ts";
import { Artifacts } from "../../../src/store/artifacts.ts";
import { loadTree, storeTree, Workspace } from "../../../src/workspace/workspace.ts";
import { newSeed, seededRandom } from "../domain/seeded-random.ts";
import { clearlyLess, growth } from "./growth.ts";
import { MemoryBlobs } from "./memory-blobs.ts";

const empty = () => {
  const blobs = new MemoryBlobs();
  return { blobs, workspace: new Workspace(blobs, emptyTree) };
};

describe("files", () => {
  test("that were written are read back, from memory and from the store", async () => {
    const { blobs, workspace } = empty();
    await workspace.write("a.txt", "text é");
    await workspace.write("b.bin", new Uint8Array([0, 255, 128]));
    expect(blobs.puts).toBe(0);
    expect(await workspace.readText("a.txt")).toBe("text é");
    await workspace.save();
    expect(await workspace.readText("a.txt")).toBe("text é");
    expect([...(await workspace.read("b.bin"))]).toEqual([0, 255, 128]);
    expect(workspace.list()).toEqual(["a.txt", "b.bin"]);
  });

  test("of installed packages are listed and searched only when the glob names node_modules", async () => {
    const { workspace } = empty();
    for (const path of [
      "node_modules/a/b.js",
      "lib/node_modules/c.js",
      "node_modules2/d.js",
      "e/node_modules",
    ])
      await workspace.write(path, "sum");
    const own = ["e/node_modules", "node_modules2/d.js"];
    expect(workspace.list()).toEqual(own);
    expect(workspace.list("**/*.js")).toEqual(["node_modules2/d.js"]);
    expect((await workspace.search("sum")).map(({ path }) => path)).toEqual(own);
    expect(workspace.list("**/node_modules/**")).toEqual(["lib/node_modules/c.js", "node_modules/a/b.js"]);
    expect(await workspace.readText("node_modules/a/b.js")).toBe("sum");
  });

  test("keep their content when the writer or a reader changes its buffer later", async () => {
    const { workspace } = empty();
    const bytes = new Uint8Array([1, 2, 3]);
    await workspace.write("a", bytes);
    bytes[0] = 9;
    (await workspace.read("a"))[1] = 9;
    expect([...(await workspace.read("a"))]).toEqual([1, 2, 3]);
  });

  test("that are not text are not read as text", async () => {
    const { workspace } = empty();
    const [halfUtf16, surrogate, brokenUtf8] = [
      [0xff, 0xfe, 0x61],
      [0xff, 0xfe, 0x00, 0xd8],
      [0xc3, 0xa9, 0xc3],
    ];
    const [withNul, notWindows, noCharacter] = [
      [0x61, 0, 0x62],
      [0xed, 0xa0, 0x80],
      [0x61, 0x81],
    ];
    for (const bytes of [halfUtf16, surrogate, brokenUtf8, withNul, notWindows, noCharacter] as number[][]) {
      await workspace.write("x", Uint8Array.from(bytes));
      await expect(workspace.readText("x")).rejects.toThrow(InputInvalid);
      await expect(workspace.edit("x", [{ find: "a", replace: "b" }])).rejects.toThrow("not a text");
      await expect(workspace.readText("x")).rejects.toMatchObject({
        advice: expect.stringContaining("Written as a whole it becomes UTF-8"),
      });
      expect([...(await workspace.read("x"))]).toEqual(bytes);
    }
  });

  test("keep a byte order mark", async () => {
    const { workspace } = empty();
    await workspace.write("x", "\ufeffa");
    expect(await workspace.readText("x")).toBe("\ufeffa");
  });

  test("stay executable when they are written again, unless told otherwise", async () => {
    const { workspace } = empty();
    await workspace.write("run", "1", { executable: true });
    await workspace.write("run", "2");
    expect(workspace.tree.get("run")).toMatchObject({ mode: "executable" });
    await workspace.edit("run", [{ find: "2", replace: "3" }]);
    expect(workspace.tree.get("run")).toMatchObject({ mode: "executable" });
    await workspace.write("run", "3", { executable: false });
    expect(workspace.tree.get("run")).toMatchObject({ mode: "file" });
  });

  test("that were removed are gone, and so are their folders", async () => {
    const { workspace } = empty();
    await workspace.write("a/b", "1");
    await workspace.remove("a/b");
    expect(workspace.list()).toEqual([]);
    await workspace.write("a", "a file where the folder was");
    expect(workspace.hash).toBe(treeHash(workspace.tree));
  });

  test("are found by any Unicode form of their path", async () => {
    const { workspace } = empty();
    await workspace.write("cafe\u0301.md", "1");
    expect(workspace.list()).toEqual(["café.md"]);
    expect(await workspace.readText("cafe\u0301.md")).toBe("1");
    await workspace.remove("café.md");
    expect(workspace.list()).toEqual([]);
  });

  test.each([
    ["../x", "nothing outside"],
    ["SRC/new.ts", '"src/new.ts"'],
    ["src/MAIN.ts", '"src/main.ts"'],
    ["src", "another name"],
    ["src/main.ts/x", "another folder"],
  ])("cannot be written to %s", async (path, advice) => {
    const blobs = new MemoryBlobs();
    const workspace = new Workspace(blobs, blobs.tree({ "src/main.ts": "1" }));
    const before = workspace.hash;
    const error = await workspace.write(path, "x").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InputInvalid);
    expect((error as InputInvalid).advice).toContain(advice);
    expect(workspace.hash).toBe(before);
  });

  test("that are too large or too many are refused", async () => {
    const { workspace } = empty();
    await expect(workspace.write("x", "é".repeat(treeLimits.maxFileBytes / 2 + 1))).rejects.toThrow("limit");
    await workspace.write("x", "é".repeat(treeLimits.maxFileBytes / 2));
    const blobs = new MemoryBlobs();
    const { sha256: hash } = [...blobs.tree({ a: "x" }).values()][0] ?? { sha256: "" };
    const large = { sha256: hash, bytes: treeLimits.maxFileBytes, mode: "file" as const };
    const full = new Workspace(
      blobs,
      new Map(Array.from({ length: 32 }, (_, index) => [`f${index}`, large])),
    );
    await expect(full.write("one", "x")).rejects.toThrow("bytes together");
    const over = { ...large, bytes: treeLimits.maxFileBytes + 1 };
    expect(() => workspace.reapply([{ path: "over", after: over }])).toThrow("limit of a file");
    await full.write("f0", "smaller");
    await full.write("one", "x");
    const small = { sha256: hash, bytes: 1, mode: "file" as const };
    const many = Array.from({ length: treeLimits.maxFiles }, (_, index) => [`f${index}`, small] as const);
    const crowded = new Workspace(blobs, new Map(many));
    await expect(crowded.write("one", "x")).rejects.toThrow("too many");
    await crowded.write("f0", "y");
    await crowded.remove("f1");
    await crowded.write("one", "x");
  });
});

describe("a path that is not there", () => {
  const blobs = new MemoryBlobs();
  const workspace = new Workspace(
    blobs,
    blobs.tree({ "src/main.ts": "", "src/models/user.ts": "", "docs/design.md": "", "docs/notes.md": "" }),
  );

  test.each([
    ["src/mian.ts", "src/main.ts"],
    ["main.ts", "src/main.ts"],
    ["lib/deep/user.ts", "src/models/user.ts"],
    ["Docs/Design.md", "docs/design.md"],
    ["docs/desing.md", "docs/design.md"],
  ])("%s brings up %s", async (path, meant) => {
    for (const call of [
      () => workspace.read(path),
      () => workspace.readText(path),
      () => workspace.remove(path),
      () => workspace.edit(path, [{ find: "a", replace: "b" }]),
    ]) {
      await expect(call()).rejects.toThrow(`Did you mean "${meant}"?`);
    }
  });

  test("and is a folder says what is in it", async () => {
    const error = await workspace.read("docs").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      message: '"docs" is a folder.',
      advice: expect.stringContaining("design.md"),
    });
  });

  test("is answered among many files as fast as among few, in proportion", async () => {
    const work = (count: number) => {
      const paths = Array.from(
        { length: count },
        (_, index) => `src/folder${index % 50}/file-number-${index}.ts`,
      );
      const large = new Workspace(blobs, blobs.tree(Object.fromEntries(paths.map((path) => [path, ""]))));
      return () => expect(large.read("src/folder77/file-nubmer-12.ts")).rejects.toThrow(InputInvalid);
    };
    expect(await growth(work, 9600)).toBeLessThan(clearlyLess);
  });
});

describe("the tree", () => {
  test("that was handed out does not change with the workspace", async () => {
    const { workspace } = empty();
    await workspace.write("a", "1");
    const { tree } = workspace;
    await workspace.write("b", "2");
    await workspace.remove("a");
    expect([...tree.keys()]).toEqual(["a"]);
    expect(workspace.list()).toEqual(["b"]);
  });

  test("has the hash of its content, whatever was done to get there", async () => {
    const { workspace } = empty();
    expect(workspace.hash).toBe(emptyTreeHash);
    await workspace.write("a", "1");
    const { hash } = workspace;
    await workspace.write("b", "2");
    expect(workspace.hash).not.toBe(hash);
    await workspace.remove("b");
    expect(workspace.hash).toBe(hash);
    await workspace.write("a", "1");
    expect(workspace.hash).toBe(hash);
  });

  test("of a base is never touched", async () => {
    const blobs = new MemoryBlobs();
    const base = blobs.tree({ a: "1", b: "2" });
    const workspace = new Workspace(blobs, base);
    await workspace.write("a", "changed");
    await workspace.remove("b");
    expect(blobs.texts(base)).toEqual({ a: "1", b: "2" });
  });
});

describe("saving", () => {
  test("names the manifest and the blobs that the base has not, and all of it is in the store", async () => {
    const blobs = new MemoryBlobs();
    const workspace = new Workspace(blobs, blobs.tree({ old: "old", same: "same" }));
    await workspace.write("new", "new");
    await workspace.write("draft", "never kept");
    await workspace.write("draft", "kept");
    await workspace.write("copy", "same");
    await workspace.remove("old");
    const { tree, artifacts } = await workspace.save();
    expect(tree).toBe(workspace.hash);
    expect(artifacts.toSorted()).toEqual([tree, sha256("kept"), sha256("new")].sort());
    const loaded = await loadTree(blobs, tree);
    expect(blobs.texts(loaded)).toEqual({ copy: "same", draft: "kept", new: "new", same: "same" });
    expect(blobs.stored.has(sha256("never kept"))).toBe(false);
  });

  test("writes every blob before the manifest that names it", async () => {
    const blobs = new MemoryBlobs();
    const workspace = new Workspace(blobs, emptyTree);
    for (let index = 0; index < 50; index += 1) await workspace.write(`f${index}`, `content ${index}`);
    const { tree } = await workspace.save();
    expect([...blobs.stored.keys()].at(-1)).toBe(tree);
  });

  test("without a change stores nothing and hashes nothing, whatever the size of the base", async () => {
    const blobs = new MemoryBlobs();
    const untouched = new Workspace(blobs, emptyTree);
    expect(await untouched.save()).toEqual({ tree: emptyTreeHash, artifacts: [] });
    const tree = await storeTree(blobs, blobs.tree({ a: "1" }));
    const base = await loadTree(blobs, tree);
    const { puts, gets } = blobs;
    const workspace = new Workspace(blobs, base);
    await workspace.recordings.record(async () => "nothing");
    expect(await workspace.save()).toEqual({ tree, artifacts: [tree] });
    expect(await workspace.flush([])).toEqual([]);
    expect({ puts: blobs.puts, gets: blobs.gets }).toEqual({ puts, gets });
  });

  test("of a tree that was loaded from another store writes it to this one", async () => {
    const [here, there] = [new MemoryBlobs(), new MemoryBlobs()];
    const base = await loadTree(there, await storeTree(there, there.tree({ a: "1" })));
    const { tree } = await new Workspace(here, base).save();
    expect(here.stored.has(tree)).toBe(true);
  });

  test("can be written again: later files are in the next save", async () => {
    const { blobs, workspace } = empty();
    await workspace.write("a", "1");
    await workspace.save();
    await workspace.write("b", "2");
    const { tree, artifacts } = await workspace.save();
    expect(artifacts).toContain(sha256("1"));
    expect(blobs.texts(await loadTree(blobs, tree))).toEqual({ a: "1", b: "2" });
  });

  test("keeps in memory what the store would not take", async () => {
    const { blobs, workspace } = empty();
    await workspace.write("a", "1");
    const put = blobs.put.bind(blobs);
    blobs.put = () => Promise.reject(new Error("the disk is full"));
    await expect(workspace.save()).rejects.toThrow("full");
    blobs.put = put;
    expect(await workspace.readText("a")).toBe("1");
    const { tree } = await workspace.save();
    expect(blobs.texts(await loadTree(blobs, tree))).toEqual({ a: "1" });
  });

  test("works with the artifact store on disk", async () => {
    const directory = await mkdtemp(join(tmpdir(), "workspace-"));
    try {
      const artifacts = new Artifacts(directory);
      const workspace = new Workspace(artifacts, emptyTree);
      await workspace.write("a/b", "1", { executable: true });
      const { tree } = await workspace.save();
      const again = new Workspace(new Artifacts(directory), await loadTree(artifacts, tree));
      expect(await again.readText("a/b")).toBe("1");
      expect(again.hash).toBe(tree);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});

test("a large amount of unsaved content does not stay in memory, and none of it is lost", async () => {
  const { blobs, workspace } = empty();
  const block = (index: number) => Buffer.alloc(4 * 1024 * 1024, index);
  for (let index = 1; index <= 12; index += 1) await workspace.write(`f${index}`, block(index));
  expect(blobs.stored.size).toBeGreaterThan(5);
  expect((await workspace.read("f1")).equals(block(1))).toBe(true);
  // Retention may have taken what nothing points to; saving stores it again as new, or says that it is gone.
  const before = blobs.puts;
  const { tree, artifacts } = await workspace.save();
  expect(blobs.puts - before).toBe(13);
  expect(artifacts).toHaveLength(13);
  expect((await loadTree(blobs, tree)).size).toBe(12);
});

describe("loading", () => {
  test("the empty tree needs no store", async () => {
    expect(await loadTree(new MemoryBlobs(), emptyTreeHash)).toBe(emptyTree);
    expect(emptyTreeHash).toBe(sha256(toManifest(emptyTree)));
  });

  test("a blob that is not a manifest is reported", async () => {
    const blobs = new MemoryBlobs();
    for (const content of ["hello", "[1]", Buffer.from([0xff])]) {
      await expect(loadTree(blobs, await blobs.put(content))).rejects.toThrow(ArtifactCorrupt);
    }
    await expect(loadTree(blobs, sha256("missing"))).rejects.toThrow(ArtifactCorrupt);
  });
});

test("edits of one file at the same time are all kept", async () => {
  const { workspace } = empty();
  const lines = Array.from({ length: 40 }, (_, index) => `line <${index}>`);
  await workspace.write("a", lines.join("\n"));
  await workspace.save();
  await Promise.all(
    lines.map((line, index) => workspace.edit("a", [{ find: line, replace: `changed <${index}>` }])),
  );
  expect(await workspace.readText("a")).toBe(lines.map((_, index) => `changed <${index}>`).join("\n"));
});

test("an edit that cannot be made changes nothing and says which and why", async () => {
  const { workspace } = empty();
  await workspace.write("a", "one\ntwo\n");
  const error = await workspace
    .edit("a", [
      { find: "one", replace: "1" },
      { find: "twoo", replace: "2" },
    ])
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InputInvalid);
  expect(error).toMatchObject({ details: { path: "a", edit: 2, reason: "not-found" } });
  expect((error as Error).message).toContain('"a" was not changed: edit 2 of 2: the text to find is not in');
  expect(await workspace.readText("a")).toBe("one\ntwo\n");
});

test("whatever is done in whatever order, the workspace agrees with a plain map", async () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  const blobs = new MemoryBlobs();
  let workspace = new Workspace(blobs, emptyTree);
  const model = new Map<string, string>();
  const paths = ["a", "b", "c/d", "c/e", "f/g/h"];
  for (let round = 0; round < 1500; round += 1) {
    const path = paths[Math.floor(random() * paths.length)] ?? "a";
    const content = String(Math.floor(random() * 20));
    const action = Math.floor(random() * 5);
    if (action <= 1) {
      await workspace.write(path, content);
      model.set(path, content);
    } else if (action === 2 && model.delete(path)) await workspace.remove(path);
    else if (action === 3)
      workspace = new Workspace(blobs, await loadTree(blobs, (await workspace.save()).tree));
    const text = model.has(path) ? await workspace.readText(path) : undefined;
    expect(text, `seed ${seed}, round ${round}`).toBe(model.get(path));
    expect(workspace.hash, `seed ${seed}, round ${round}`).toBe(treeHash(workspace.tree));
    expect(workspace.list(), `seed ${seed}, round ${round}`).toEqual([...model.keys()].sort());
  }
});

describe("a file that is moved", () => {
  test("keeps its content and mode", async () => {
    const { workspace } = empty();
    await workspace.write("bin/run", "#!/bin/sh\n", { executable: true });
    await workspace.move("bin/run", "tools/run.sh");
    expect(workspace.list()).toEqual(["tools/run.sh"]);
    expect(workspace.tree.get("tools/run.sh")).toMatchObject({ mode: "executable", bytes: 10 });
  });

  test("may change only the case of its name, or become a file in a folder of its old name", async () => {
    const { workspace } = empty();
    await workspace.write("Readme.md", "text");
    await workspace.move("Readme.md", "README.md");
    await workspace.move("README.md", "README.md/index.md");
    expect(workspace.list()).toEqual(["README.md/index.md"]);
  });

  test.each([
    ["b.txt", '"a.txt" was not moved: "b.txt" is there already.'],
    ["a.txt", '"a.txt" was not moved: "a.txt" is there already.'],
    ["c", '"c" is a folder.'],
    ["b.txt/d", '"b.txt" is a file, so that "b.txt/d" cannot be in it.'],
    ["../d", 'The path "../d" has a name "..".'],
    [".git/config", 'The path ".git/config" belongs to version control or to Maestro.'],
  ])("to %s stays where it is", async (to, message) => {
    const { workspace } = empty();
    for (const path of ["a.txt", "b.txt", "c/d.txt"]) await workspace.write(path, path);
    const before = workspace.tree;
    await expect(workspace.move("a.txt", to)).rejects.toThrow(message);
    expect(workspace.tree).toEqual(before);
  });
});

test("a file of the base whose name new files may not have can be removed, and its removal applied again", async () => {
  const { blobs, workspace } = empty();
  await workspace.write("other", "x");
  await workspace.save();
  const file = workspace.tree.get("other");
  const base = new Map([["aux.c", file as NonNullable<typeof file>]]);
  const later = new Workspace(blobs, base);
  await later.remove("aux.c");
  later.reapply([{ path: "aux.c" }]);
  expect(later.tree.size).toBe(0);
  later.reapply([{ path: "aux.c", after: file as NonNullable<typeof file> }]);
  expect(later.list()).toEqual(["aux.c"]);
});
