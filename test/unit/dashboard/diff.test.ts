import { describe, expect, test } from "vitest";
import { compareTrees } from "../../../dashboard/src/artifacts/compare-trees.ts";
import { type ComparedLine, compareLines } from "../../../dashboard/src/artifacts/diff-lines.ts";
import { treeLines } from "../../../dashboard/src/artifacts/file-tree.ts";
import { foldEqual } from "../../../dashboard/src/artifacts/fold.ts";
import { highlightLines } from "../../../dashboard/src/artifacts/highlight.ts";
import { decodeText, linesOf } from "../../../dashboard/src/artifacts/text.ts";
import { processorMs } from "../../support/processor-time.ts";
import { seeded } from "./samples.ts";

const countChanges = (lines: readonly ComparedLine[]) => ({
  added: lines.filter(({ sign }) => sign === "+").length,
  removed: lines.filter(({ sign }) => sign === "-").length,
});
const before = (lines: readonly ComparedLine[]) =>
  lines.filter(({ sign }) => sign !== "+").map(({ text }) => text);
const after = (lines: readonly ComparedLine[]) =>
  lines.filter(({ sign }) => sign !== "-").map(({ text }) => text);
const signs = (lines: readonly ComparedLine[]) => lines.map(({ sign, text }) => sign + text).join(" ");

describe("a comparison", () => {
  test("names what was removed and added where it happened", () => {
    expect(signs(compareLines(["a", "b", "c"], ["a", "x", "c"]))).toBe(" a -b +x  c");
    expect(signs(compareLines([], ["a"]))).toBe("+a");
    expect(signs(compareLines(["a"], []))).toBe("-a");
    expect(compareLines([], [])).toEqual([]);
  });

  test("numbers lines as they are in their own file", () => {
    const lines = compareLines(["a", "b", "c"], ["x", "a", "c"]);
    expect(lines).toEqual([
      { sign: "+", before: null, after: 1, text: "x" },
      { sign: " ", before: 1, after: 2, text: "a" },
      { sign: "-", before: 2, after: null, text: "b" },
      { sign: " ", before: 3, after: 3, text: "c" },
    ]);
  });

  test("keeps a moved function together instead of matching its brackets", () => {
    const one = ["f {", "  1", "}", "", "g {", "  2", "}"];
    const two = ["g {", "  2", "}", "", "f {", "  1", "}"];
    const { added, removed } = countChanges(compareLines(one, two));
    expect([added, removed]).toEqual([4, 4]);
  });

  test("of any two texts gives back both, and is no longer than replacing everything", () => {
    const random = seeded(42);
    for (let round = 0; round < 400; round += 1) {
      const letters = 1 + Math.floor(random() * 6);
      const text = () =>
        Array.from({ length: Math.floor(random() * 40) }, () => `l${Math.floor(random() * letters)}`);
      const [one, two] = [text(), text()];
      const lines = compareLines(one, two);
      expect(before(lines)).toEqual(one);
      expect(after(lines)).toEqual(two);
      expect(countChanges(compareLines(one, one))).toEqual({ added: 0, removed: 0 });
    }
  });

  test("without repeated lines to lead it astray is as short as possible", () => {
    const random = seeded(9);
    for (let round = 0; round < 100; round += 1) {
      const one = Array.from({ length: 30 }, () => (random() < 0.5 ? "a" : "b"));
      const two = one.filter(() => random() > 0.2);
      const { added, removed } = countChanges(compareLines(one, two));
      expect([added, removed]).toEqual([0, one.length - two.length]);
    }
  });

  test("of 30,000 lines with one change, and of two files with nothing in common, ends soon", () => {
    const large = Array.from({ length: 30_000 }, (_, index) => `row ${index % 500}`);
    const changed = large.with(15_000, "changed");
    const other = Array.from({ length: 8000 }, (_, index) => `x${index % 7}`);
    const different = Array.from({ length: 8000 }, (_, index) => `y${index % 7}`);
    const counted: unknown[] = [];
    const took = processorMs(() => {
      counted.push(countChanges(compareLines(large, changed)), countChanges(compareLines(other, different)));
    });
    expect(counted).toEqual([
      { added: 1, removed: 1 },
      { added: 8000, removed: 8000 },
    ]);
    expect(took).toBeLessThan(8000);
  });
});

test("equal stretches are folded and can be opened; nothing changed is ever hidden", () => {
  const one = Array.from({ length: 100 }, (_, index) => `l${index}`);
  const lines = compareLines(one, one.with(50, "x"));
  const folded = foldEqual(lines, new Set());
  expect(folded[0]).toEqual({ kind: "fold", from: 0, to: 47 });
  expect(folded.filter((item) => item.kind === "line" && item.line.sign !== " ")).toHaveLength(2);
  expect(folded.filter(({ kind }) => kind === "line")).toHaveLength(8);
  expect(foldEqual(lines, new Set([0])).filter(({ kind }) => kind === "line")).toHaveLength(55);
});

describe("highlighting", () => {
  const kinds = (text: string, path: string) =>
    highlightLines(linesOf(text), path).map((tokens) => tokens.map(({ kind, text }) => `${kind}:${text}`));

  test("loses no character of any line", () => {
    const random = seeded(4);
    const alphabet = ["const", " ", '"', "'", "`", "/*", "*/", "//", "#", "\\", "x", "<!--", "-->", "ü", "1"];
    for (const path of ["a.ts", "a.py", "a.sql", "a.html", "a.unknown", "Makefile"]) {
      const lines = Array.from({ length: 200 }, () =>
        Array.from({ length: 12 }, () => alphabet[Math.floor(random() * alphabet.length)]).join(""),
      );
      expect(highlightLines(lines, path).map((tokens) => tokens.map(({ text }) => text).join(""))).toEqual(
        lines,
      );
    }
  });

  test("knows words, strings and comments, over line ends too", () => {
    expect(kinds("const a = 'it\\'s'; // x\n/* one\ntwo */ return", "a.ts")).toEqual([
      ["keyword:const", "plain: a = ", "string:'it\\'s'", "plain:; ", "comment:// x"],
      ["comment:/* one"],
      ["comment:two */", "plain: ", "keyword:return"],
    ]);
    expect(kinds("a: 1 # x", "a.yaml")).toEqual([["plain:a: 1 ", "comment:# x"]]);
    expect(kinds("a 'open\nnext", "a.ts")[1]).toEqual(["plain:next"]);
  });

  test("of a minified megabyte ends soon", () => {
    const took = processorMs(() => {
      highlightLines([`const a="${"x'`/*".repeat(250_000)}`], "a.js");
    });
    expect(took).toBeLessThan(3000);
  });
});

test("a tree shows folders first and joins folders that hold nothing else", () => {
  const files = ["b.ts", "src/a/one.ts", "src/a/two.ts", "docs/deep/er/x.md"].map((path) => ({ path }));
  const shown = (closed: string[]) =>
    treeLines(files, new Set(closed)).map(
      ({ name, depth, file }) => `${" ".repeat(depth)}${name}${file ? "" : "/"}`,
    );
  expect(shown([])).toEqual(["docs/deep/er/", " x.md", "src/a/", " one.ts", " two.ts", "b.ts"]);
  expect(shown(["src/a"])).toEqual(["docs/deep/er/", " x.md", "src/a/", "b.ts"]);
});

test("trees are compared by path and hash", () => {
  const file = (path: string, sha256: string) => ({
    path,
    sha256,
    bytes: 1,
    persona: null,
    phase: null,
    binary: false,
  });
  const changes = compareTrees(
    [file("a", "1"), file("b", "1"), file("c", "1")],
    [file("a", "1"), file("b", "2"), file("d", "1")],
  );
  expect(changes.map(({ path, kind }) => `${path} ${kind}`)).toEqual(["b changed", "c removed", "d added"]);
});

test("what is no text is not shown as text", () => {
  expect(decodeText(new Uint8Array([137, 80, 78, 71, 0, 1]))).toBeUndefined();
  expect(decodeText(new Uint8Array([0xff, 0xfe, 0x41]))).toBeUndefined();
  expect(decodeText(new TextEncoder().encode("ü\u202E"))).toBe("ü\\u202e");
});
