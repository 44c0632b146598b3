import { describe, expect, test } from "vitest";
import { sha256 } from "../../../src/domain/canonical.ts";
import { type Tree, treeHash } from "../../../src/domain/tree.ts";
import { describeConflict } from "../../../src/workspace/conflict.ts";
import { mergeTrees } from "../../../src/workspace/merge.ts";
import { MemoryBlobs } from "./memory-blobs.ts";
import { type Files, merged } from "./merged.ts";

describe("a change of one side is taken:", () => {
  test.each<[string, Files, Files, Files, Files]>([
    ["added by ours", {}, { a: "1" }, {}, { a: "1" }],
    ["added by theirs", {}, {}, { a: "1" }, { a: "1" }],
    ["added by each", {}, { a: "1" }, { b: "2" }, { a: "1", b: "2" }],
    ["changed by theirs", { a: "1" }, { a: "1" }, { a: "2" }, { a: "2" }],
    ["removed by ours", { a: "1" }, {}, { a: "1" }, {}],
    ["removed by theirs", { a: "1" }, { a: "1" }, {}, {}],
    ["removed by both", { a: "1" }, {}, {}, {}],
    ["the same change by both", { a: "1" }, { a: "2" }, { a: "2" }, { a: "2" }],
    ["the same file by both", {}, { a: "1" }, { a: "1" }, { a: "1" }],
    ["made executable by theirs", { a: "1" }, { a: "1" }, { "a!": "1" }, { "a!": "1" }],
    ["made executable by theirs, changed by ours", { a: "1" }, { a: "2" }, { "a!": "1" }, { "a!": "2" }],
    ["changed by theirs, no longer executable by ours", { "a!": "1" }, { a: "1" }, { "a!": "2" }, { a: "2" }],
    [
      "made executable and changed by each in its own place",
      { a: "1\n2\n3\n" },
      { "a!": "x\n2\n3\n" },
      { a: "1\n2\ny\n" },
      { "a!": "x\n2\ny\n" },
    ],
    ["a file made a folder by theirs", { a: "1" }, { a: "1" }, { "a/b": "2" }, { "a/b": "2" }],
    [
      "a folder made a file by theirs",
      { "a/b": "1", "a/c": "2" },
      { "a/b": "1", "a/c": "2" },
      { a: "3" },
      { a: "3" },
    ],
    ["another spelling by theirs", { "A/x": "1" }, { "A/x": "1" }, { "a/x": "1" }, { "a/x": "1" }],
    [
      "binary, changed by one",
      { a: new Uint8Array([0, 1]) },
      { a: new Uint8Array([0, 1]) },
      { a: "x" },
      { a: "x" },
    ],
  ])("%s", async (_title, base, ours, theirs, expected) => {
    const { files, conflicts, artifacts, blobs, tree } = await merged(base, ours, theirs);
    expect(files).toEqual(expected);
    expect(conflicts).toEqual([]);
    for (const hash of artifacts) expect(blobs.stored.has(hash)).toBe(true);
    for (const { sha256: hash, bytes } of tree.values()) expect(blobs.stored.get(hash)).toHaveLength(bytes);
  });
});

describe("texts that both changed are merged by lines:", () => {
  const text = "one\ntwo\nthree\nfour\nfive\n";

  test.each([
    ["far apart", text, text.replace("one", "1"), text.replace("five", "5"), "1\ntwo\nthree\nfour\n5\n"],
    [
      "one line between",
      text,
      text.replace("two", "2"),
      text.replace("four", "4"),
      "one\n2\nthree\n4\nfive\n",
    ],
    [
      "some agree",
      text,
      text.replace("one", "1").replace("five", "5"),
      text.replace("one", "1"),
      "1\ntwo\nthree\nfour\n5\n",
    ],
    ["lines added at both ends", text, `0\n${text}`, `${text}6\n`, `0\n${text}6\n`],
    [
      "removed and added",
      text,
      text.replace("two\n", ""),
      text.replace("four\n", "four\n4.5\n"),
      "one\nthree\nfour\n4.5\nfive\n",
    ],
    [
      "CRLF",
      text.replaceAll("\n", "\r\n"),
      text.replaceAll("\n", "\r\n").replace("one", "1"),
      text.replaceAll("\n", "\r\n").replace("five", "5"),
      "1\r\ntwo\r\nthree\r\nfour\r\n5\r\n",
    ],
    ["mixed line ends", "a\r\nb\nc\r\nd\n", "A\r\nb\nc\r\nd\n", "a\r\nb\nc\r\nD\n", "A\r\nb\nc\r\nD\n"],
    ["no end of the file", "a\nb\nc", "x\nb\nc", "a\nb\nz", "x\nb\nz"],
    ["an end of the file added", "a\nb\nc", "x\nb\nc", "a\nb\nc\n", "x\nb\nc\n"],
    ["a byte order mark", "\ufeffa\nb\nc\n", "\ufeffa\nb\nC\n", "\ufeffA\nb\nc\n", "\ufeffA\nb\nC\n"],
    [
      "names of built-in things",
      "constructor\n__proto__\ntoString\n",
      "constructor\n__proto__\nx\n",
      "y\n__proto__\ntoString\n",
      "y\n__proto__\nx\n",
    ],
  ])("%s", async (_title, base, ours, theirs, expected) => {
    const there = await merged({ f: base }, { f: ours }, { f: theirs });
    expect(there.files).toEqual({ f: expected });
    expect(there.conflicts).toEqual([]);
    expect(there.artifacts).toEqual([ours, theirs].includes(expected) ? [] : [sha256(expected)]);
    const back = await merged({ f: base }, { f: theirs }, { f: ours });
    expect(back.files).toEqual({ f: expected });
  });
});

describe("a conflict keeps ours and says what it is:", () => {
  test.each<[string, Files, Files, Files, (readonly string[])[]]>([
    ["the same line", { f: "a\nb\nc\n" }, { f: "a\nx\nc\n" }, { f: "a\ny\nc\n" }, [["f", "content"]]],
    ["lines side by side", { f: "a\nb\nc\n" }, { f: "x\nb\nc\n" }, { f: "a\ny\nc\n" }, [["f", "content"]]],
    ["lines added in one place", { f: "a\nb\n" }, { f: "a\nx\nb\n" }, { f: "a\ny\nb\n" }, [["f", "content"]]],
    [
      "a line changed and removed",
      { f: "a\nb\nc\n" },
      { f: "a\nx\nc\n" },
      { f: "a\nc\n" },
      [["f", "content"]],
    ],
    ["two new files", {}, { f: "1" }, { f: "2" }, [["f", "add-add"]]],
    [
      "two new binary files",
      {},
      { f: new Uint8Array([0]) },
      { f: new Uint8Array([1, 0]) },
      [["f", "add-add"]],
    ],
    ["two binary changes", { f: "\0" }, { f: "\u0001\0" }, { f: "\u0002\0" }, [["f", "binary"]]],
    ["text made binary", { f: "a\n" }, { f: "b\n" }, { f: "\0" }, [["f", "binary"]]],
    ["changed and removed", { f: "1" }, { f: "2" }, {}, [["f", "modify-delete"]]],
    ["removed and changed", { f: "1" }, {}, { f: "2" }, [["f", "modify-delete"]]],
    ["added, by one as a program", {}, { "f!": "1" }, { f: "1" }, [["f", "mode"]]],
    ["made executable and removed", { f: "1" }, { "f!": "1" }, {}, [["f", "modify-delete"]]],
    ["a file and a folder", {}, { a: "1" }, { "a/b": "2" }, [["a/b", "file-folder", "a"]]],
    ["a folder and a file", {}, { "a/b": "2" }, { a: "1" }, [["a", "file-folder", "a"]]],
    ["two spellings", {}, { "README.md": "1" }, { "readme.md": "1" }, [["readme.md", "case", "README.md"]]],
    ["two spellings of a folder", {}, { "Docs/a": "1" }, { "docs/b": "2" }, [["docs/b", "case", "Docs"]]],
    ["two spellings beyond ASCII", {}, { "É.md": "1" }, { "é.md": "2" }, [["é.md", "case", "É.md"]]],
    [
      "a changed file made a folder",
      { a: "1" },
      { a: "2" },
      { "a/b": "3" },
      [
        ["a", "modify-delete"],
        ["a/b", "file-folder", "a"],
      ],
    ],
    [
      "a changed file with a new spelling",
      { a: "1" },
      { a: "2" },
      { A: "1" },
      [
        ["A", "case", "a"],
        ["a", "modify-delete"],
      ],
    ],
  ])("%s", async (_title, base, ours, theirs, expected) => {
    const { tree, kinds, blobs, conflicts, artifacts } = await merged(base, ours, theirs);
    expect(kinds).toEqual(expected);
    expect(treeHash(tree)).toBe(treeHash(blobs.tree(ours)));
    expect(artifacts).toEqual([]);
    for (const conflict of conflicts) {
      const text = describeConflict(conflict, "architect", "skeptic");
      expect(text).toContain(JSON.stringify(conflict.path));
      expect(text).toContain("architect");
      expect(text).toContain("skeptic");
    }
  });

  test("and everything else of theirs is taken all the same", async () => {
    const { files, kinds } = await merged(
      { a: "1", b: "1", c: "1" },
      { a: "ours", b: "1", c: "1" },
      { a: "theirs", b: "2", d: "new" },
    );
    expect(files).toEqual({ a: "ours", b: "2", d: "new" });
    expect(kinds).toEqual([["a", "content"]]);
  });

  test("with the places in both texts and what stands there", async () => {
    const base = "1\n2\n3\n4\n5\n6\n7\n";
    const ours = "0\n1\n2\nours\n4\n5\n6\n7\n";
    const theirs = "1\n2\ntheirs a\ntheirs b\n4\n5\n7\n";
    const { conflicts } = await merged({ f: base }, { f: ours }, { f: theirs });
    expect(conflicts).toEqual([
      {
        path: "f",
        kind: "content",
        base: sha256(base),
        ours: sha256(ours),
        theirs: sha256(theirs),
        lines: [{ ours: [4, 4], theirs: [3, 4] }],
        excerpt: { ours: "ours", theirs: "theirs a\ntheirs b" },
      },
    ]);
    expect(conflicts.map((conflict) => describeConflict(conflict, "architect", "skeptic"))).toEqual([
      [
        '"f": architect and skeptic changed the same place differently (architect: line 4; skeptic: lines 3 to 4). The workspace has what architect left.',
        "architect:",
        "  | ours",
        "skeptic:",
        "  | theirs a",
        "  | theirs b",
      ].join("\n"),
    ]);
  });

  test("where one side removed the lines, says that it has nothing there", async () => {
    const { conflicts } = await merged({ f: "a\nb\nc\n" }, { f: "a\nc\n" }, { f: "a\nx\nc\n" });
    expect(conflicts[0]?.lines).toEqual([{ ours: [2, 1], theirs: [2, 2] }]);
    const [text = ""] = conflicts.map((conflict) => describeConflict(conflict, "a", "b"));
    expect(text).toContain("nothing before line 2");
    expect(text).toContain("(nothing)");
  });

  test("without passing on what a terminal would act on", async () => {
    const { conflicts } = await merged({}, { f: "\u001b[2Jours\n" }, { f: "theirs\r\n\u0007" });
    expect(conflicts.map((conflict) => describeConflict(conflict, "a", "b")).join()).not.toMatch(
      /(?!\n)\p{Cc}/u,
    );
  });

  test("in bounds, however much is in conflict", async () => {
    const long = (word: string) =>
      Array.from({ length: 500 }, (_, index) => `${word} ${index} ${"x".repeat(5000)}`).join("\n");
    const alternate = (word: string) =>
      Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? `${word}${index}` : `${index}`)).join(
        "\n",
      );
    const { conflicts } = await merged(
      { a: long("base"), b: alternate("base") },
      { a: long("ours"), b: alternate("ours") },
      { a: long("theirs"), b: alternate("theirs") },
    );
    expect(conflicts).toHaveLength(2);
    for (const conflict of conflicts) {
      expect(describeConflict(conflict, "a", "b").length).toBeLessThan(5000);
      expect(conflict.lines?.length).toBeLessThanOrEqual(10);
    }
    const many = (word: string) =>
      Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`f${index}`, word]));
    const crowd = await merged(many("base"), many("ours"), many("theirs"));
    expect(crowd.conflicts).toHaveLength(300);
    expect(crowd.conflicts.filter(({ excerpt }) => excerpt !== undefined).length).toBeLessThanOrEqual(50);
  });

  test("when together they are more than a tree may hold", async () => {
    const blobs = new MemoryBlobs();
    const [file] = [...blobs.tree({ x: "x" }).values()];
    const named = (name: string, count: number): Tree =>
      new Map(
        Array.from({ length: file === undefined ? 0 : count }, (_, index) => [
          `${name}${index}`,
          file ?? { sha256: "", bytes: 0, mode: "file" },
        ]),
      );
    const { tree, conflicts } = await mergeTrees({
      base: new Map(),
      ours: named("a", 9999),
      theirs: named("b", 3),
      blobs,
    });
    expect(tree.size).toBe(10_000);
    expect(conflicts.map(({ path, kind }) => [path, kind])).toEqual([
      ["b1", "limit"],
      ["b2", "limit"],
    ]);
  });
});
