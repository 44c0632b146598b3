import { describe, expect, test } from "vitest";
import { sha256 } from "../../../src/domain/canonical.ts";
import { ArtifactCorrupt } from "../../../src/domain/errors.ts";
import {
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
  executable,
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
    ["a path in another Unicode form", row("cafe\u0301")],
    ["a short hash", row("a", "ab", 1, 0)],
    ["a hash in capitals", row("a", hash.toUpperCase(), 1, 0)],
    ["a path as hash", row("a", `../${hash.slice(3)}`, 1, 0)],
    ["a negative size", row("a", hash, -1, 0)],
    ["half a byte", row("a", hash, 0.5, 0)],
    ["a size as text", row("a", hash, "1", 0)],
    ["an endless size", `[["a","${hash}",1e999,0]]`],
    ["a file too large", row("a", hash, treeLimits.maxFileBytes + 1, 0)],
    ["a mode of true", row("a", hash, 1, true)],
    ["a mode of 2", row("a", hash, 1, 2)],
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
