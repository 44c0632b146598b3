import { describe, expect, test } from "vitest";
import { sha256 } from "../../../src/domain/canonical.ts";
import { ArtifactCorrupt } from "../../../src/domain/errors.ts";
import {
  baseTree,
  changesBetween,
  emptyTree,
  fromManifest,
  type Tree,
  type TreeFile,
  toManifest,
  treeHash,
  withChanges,
} from "../../../src/domain/tree.ts";
import { treeLimits } from "../../../src/domain/tree-path.ts";
import { newSeed, seededRandom } from "./seeded-random.ts";

const hash = sha256("x");
const file = (content: string, executable = false): TreeFile => ({
  sha256: sha256(content),
  bytes: Buffer.byteLength(content),
  mode: executable ? "executable" : "file",
});
const row = (path: unknown, ...rest: readonly unknown[]) =>
  JSON.stringify([[path, ...(rest.length > 0 ? rest : [hash, 1, 0])]]);

describe("a manifest", () => {
  test("is the same text whatever the order in which files came", () => {
    const files: [string, TreeFile][] = [
      ["b", file("2")],
      ["a/z", file("1", true)],
      ["a-b", file("3")],
      ["Z", file("4")],
    ];
    const text = toManifest(new Map(files));
    expect(toManifest(new Map(files.toReversed()))).toBe(text);
    expect((JSON.parse(text) as [string][]).map(([path]) => path)).toEqual(["Z", "a-b", "a/z", "b"]);
    expect(treeHash(fromManifest(text))).toBe(treeHash(new Map(files)));
  });

  test("comes back as the tree it was made of", () => {
    const seed = newSeed();
    const random = seededRandom(seed);
    for (let round = 0; round < 200; round += 1) {
      const tree = randomTree(random);
      const read = fromManifest(toManifest(tree));
      expect(changesBetween(tree, read), `seed ${seed}`).toEqual([]);
      expect(treeHash(read), `seed ${seed}`).toBe(treeHash(tree));
    }
    expect(fromManifest(toManifest(emptyTree)).size).toBe(0);
  });

  test("of the largest tree is read in a moment", () => {
    const files = Array.from({ length: treeLimits.maxFiles }, (_, index) => [
      `d${index % 100}/f${index}`,
      file("x"),
    ]);
    const tree: Tree = new Map(files as [string, TreeFile][]);
    expect(fromManifest(toManifest(tree)).size).toBe(treeLimits.maxFiles);
  });

  test.each([
    ["nothing", ""],
    ["not JSON", "[["],
    ["no list", "{}"],
    ["a list of no lists", '["a"]'],
    ["too deep", "[".repeat(5000) + "]".repeat(5000)],
    ["a row too short", JSON.stringify([["a", hash, 1]])],
    ["a row too long", JSON.stringify([["a", hash, 1, 0, 0]])],
    ["a path that is a number", row(1)],
    ["a path that leads out", row("../a")],
    ["an absolute path", row("/etc/passwd")],
    ["a path of version control", row(".git/config")],
    ["a path in another Unicode form", `[["cafe\u0301","${hash}",1,0]]`],
    ["a path with a line break", row("a\nb")],
    ["a path of a base that leads out", `{"files":${row("../a")}}`],
    ["a path of a base that belongs to version control", `{"files":${row("a/.git/config")}}`],
    ["a path of a base with a line break", `{"files":${row("a\nb")}}`],
    ["changes without their base", `{"base":"${hash}","changes":${row("a")}}`],
    ["a short hash", row("a", "ab", 1, 0)],
    ["a hash in capitals", row("a", hash.toUpperCase(), 1, 0)],
    ["a path as hash", row("a", `../${hash.slice(3)}`, 1, 0)],
    ["a negative size", row("a", hash, -1, 0)],
    ["half a byte", row("a", hash, 0.5, 0)],
    ["a size as text", row("a", hash, "1", 0)],
    ["an endless size", `[["a","${hash}",1e999,0]]`],
    ["a file too large", row("a", hash, treeLimits.maxFileBytes + 1, 0)],
    ["a mode of true", row("a", hash, 1, true)],
    ["a mode of 3", row("a", hash, 1, 3)],
    ["spaces", `[ ["a","${hash}",1,0]]`],
    ["an escaped letter", `[["\\u0061","${hash}",1,0]]`],
    ["a size written at length", `[["a","${hash}",1.0,0]]`],
    ["a wrong order", manifestOf(["b", "a"])],
    ["a path twice", manifestOf(["a", "a"])],
    ["paths that differ in case", manifestOf(["A", "a"])],
    ["folders that differ in case", manifestOf(["A/x", "a/y"])],
    ["a file that is a folder", manifestOf(["a", "a/b"])],
    [
      "too many files",
      manifestOf(Array.from({ length: treeLimits.maxFiles + 1 }, (_, index) => `f${index}`).sort()),
    ],
    [
      "too many bytes",
      manifestOf(Array.from({ length: 33 }, (_, index) => `f${index}`).sort(), treeLimits.maxFileBytes),
    ],
  ])("with %s is damaged", (_title, text) => {
    expect(() => fromManifest(text)).toThrow(ArtifactCorrupt);
  });

  test("with any one character changed is damaged or another tree, never the same", () => {
    const text = toManifest(
      new Map([
        ["a/b", file("1")],
        ["c", file("2", true)],
      ]),
    );
    for (let at = 0; at < text.length; at += 1) {
      for (const replacement of ["0", "a", '"', "]", " ", ""]) {
        const changed = text.slice(0, at) + replacement + text.slice(at + 1);
        if (changed === text) continue;
        expect(manifestAgain(changed)).toBeOneOf([undefined, changed]);
      }
    }
  });
});

test("the changes between two trees turn one into the other", () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  for (let round = 0; round < 200; round += 1) {
    const [before, after] = [randomTree(random), randomTree(random)];
    const changed = withChanges(before, changesBetween(before, after));
    expect(treeHash(changed), `seed ${seed}`).toBe(treeHash(after));
  }
});

/** Nothing when it is damaged. */
function manifestAgain(text: string): string | undefined {
  try {
    return toManifest(fromManifest(text));
  } catch (error) {
    if (error instanceof ArtifactCorrupt) return undefined;
    throw error;
  }
}

function manifestOf(paths: readonly string[], bytes = 1): string {
  return JSON.stringify(paths.map((path) => [path, hash, bytes, 0]));
}

function randomTree(random: () => number): Tree {
  const tree = new Map<string, TreeFile>();
  for (const name of ["a", "é", 'quote"d', "日本", "😀", "z"]) {
    if (random() < 0.5) tree.set(`${name}-file`, file(String(Math.floor(random() * 3)), random() < 0.3));
    if (random() < 0.5) tree.set(`${name}/inner`, file(String(Math.floor(random() * 3))));
  }
  return tree;
}

describe("a tree over a base", () => {
  const files: Tree = new Map([
    ["aux.c", file("device")],
    ["caf\u0065\u0301", file("decomposed")],
    ["src/a", file("a")],
    ["src/link", { ...file("a"), mode: "link" }],
  ]);
  const base = baseTree(files);

  test("has the files of the base and the changes, in a manifest that names only the changes", () => {
    const tree = withChanges(base, [
      { path: "src/a", after: file("changed") },
      { path: "src/new", after: file("new", true) },
      { path: "aux.c" },
    ]);
    expect([...tree.keys()].sort()).toEqual(["caf\u0065\u0301", "src/a", "src/link", "src/new"]);
    expect(tree.size).toBe(4);
    const { base: named, changes } = JSON.parse(toManifest(tree)) as {
      base: string;
      changes: unknown[][];
    };
    expect(named).toBe(treeHash(base));
    expect(changes.map(([path]) => path)).toEqual(["aux.c", "src/a", "src/new"]);
    const read = fromManifest(toManifest(tree), fromManifest(toManifest(base)));
    expect(changesBetween(tree, read)).toEqual([]);
    expect(treeHash(read)).toBe(treeHash(tree));
  });

  test("is the base again when every change is taken back", () => {
    const changed = withChanges(base, [{ path: "src/a" }, { path: "src/b", after: file("b") }]);
    const back = withChanges(changed, changesBetween(changed, base));
    expect(treeHash(back)).toBe(treeHash(base));
    expect(back.size).toBe(files.size);
  });

  test("is refused over another base", () => {
    const text = toManifest(withChanges(base, [{ path: "src/a" }]));
    expect(() => fromManifest(text, baseTree(new Map([["src/a", file("a")]])))).toThrow(ArtifactCorrupt);
    expect(() => fromManifest(text)).toThrow(ArtifactCorrupt);
  });

  test("differs from another tree over its base in the changes alone, whatever they are", () => {
    const seed = newSeed();
    const random = seededRandom(seed);
    for (let round = 0; round < 100; round += 1) {
      const under = baseTree(randomTree(random));
      const before = withChanges(under, changesBetween(under, randomTree(random)));
      const plain = randomTree(random);
      const after = withChanges(before, changesBetween(before, plain));
      expect(changesBetween(after, plain), `seed ${seed}`).toEqual([]);
      const again = withChanges(before, changesBetween(before, after));
      expect(treeHash(again), `seed ${seed}`).toBe(treeHash(after));
    }
  });
});
