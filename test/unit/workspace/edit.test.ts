import { describe, expect, test } from "vitest";
import { type Edit, type EditRung, editLimits } from "../../../src/workspace/edit.ts";
import { applied, refused, rungs } from "./edited.ts";

describe("the ladder", () => {
  test.each<[title: string, rung: EditRung, text: string, find: string, replace: string, expected: string]>([
    ["a word", "exact", "a b c", "b", "x", "a x c"],
    ["at the start", "exact", "abc", "a", "x", "xbc"],
    ["at the end", "exact", "abc", "c", "x", "abx"],
    ["everything", "exact", "abc", "abc", "", ""],
    ["lines", "exact", "a\nb\nc\n", "b\nc\n", "x\n", "a\nx\n"],
    ["part of two lines", "exact", "one two\nthree four", "two\nthree", "2\n3", "one 2\n3 four"],
    ["dollar signs as they are", "exact", "a", "a", "$& $1 $$", "$& $1 $$"],
    ["characters of patterns", "exact", "f(x.*)", "(x.*)", "[y]", "f[y]"],
    ["emoji and accents", "exact", "é😀x", "😀", "日本", "é日本x"],
    ["LF in a CRLF file", "line-ends", "a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n", "x\r\ny\r\nc\r\n"],
    ["CRLF in an LF file", "line-ends", "a\nb\nc\n", "a\r\nb", "x\r\ny", "x\ny\nc\n"],
    ["CRLF in a CRLF file", "exact", "a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"],
    ["a line end before it in a CRLF file", "line-ends", "a\r\nb\r\n", "\nb", "\nx", "a\r\nx\r\n"],
    ["new lines into a CRLF file", "exact", "a b\r\nc\r\n", "b", "x\ny", "a x\r\ny\r\nc\r\n"],
    [
      "less indentation",
      "whitespace",
      "  if (a) {\n    b();\n  }\n",
      "if (a) {\n  b();\n}",
      "if (x) {\n  y();\n}",
      "  if (x) {\n    y();\n  }\n",
    ],
    [
      "more indentation",
      "whitespace",
      "if (a) {\n  b();\n}\n",
      "    if (a) {\n      b();\n    }",
      "    while (a) {\n      b();\n    }",
      "while (a) {\n  b();\n}\n",
    ],
    [
      "tabs for spaces",
      "whitespace",
      "\tif (a) {\n\t\tb();\n\t}\n",
      "    if (a) {\n        b();\n    }",
      "    if (a) {\n        if (c) {\n            b();\n        }\n    }",
      "\tif (a) {\n\t\tif (c) {\n\t\t\tb();\n\t\t}\n\t}\n",
    ],
    [
      "spaces for tabs",
      "whitespace",
      "  f {\n    g\n  }",
      "\tf {\n\t\tg\n\t}",
      "\tf {\n\t\tg {\n\t\t\th\n\t\t}\n\t}",
      "  f {\n    g {\n      h\n    }\n  }",
    ],
    [
      "four spaces for two",
      "whitespace",
      "a:\n  b:\n    c\n",
      "a:\n    b:\n        c",
      "a:\n    b:\n        c:\n            d",
      "a:\n  b:\n    c:\n      d\n",
    ],
    [
      "one tab, deeper lines in spaces",
      "whitespace",
      "\tone();\n",
      "    one();",
      "    one();\n    two(() => {\n        three();\n    });",
      "\tone();\n\ttwo(() => {\n\t\tthree();\n\t});\n",
    ],
    [
      "a shallower line after deeper ones",
      "whitespace",
      "    x\n      y\n",
      "  x\n    y\n",
      "  x\n    y\nz\n",
      "    x\n      y\n  z\n",
    ],
    ["trailing spaces in the file", "whitespace", "a  \nb\t\nc\n", "a\nb\n", "x\ny\n", "x\ny\nc\n"],
    ["trailing spaces in what is looked for", "whitespace", "a\nb\nc\n", "a  \nb", "x\ny", "x\ny\nc\n"],
    ["a blank line with spaces", "whitespace", "a\n   \nb\n", "a\n\nb", "x\n\ny", "x\n\ny\n"],
    ["blank lines around it", "whitespace", "a\nb\n", "\n\na\n\n", "\n\nx\n\n", "x\nb\n"],
    ["a missing end of the file", "whitespace", "a\nb", "b\n", "x\n", "a\nx"],
    ["a missing end of the file, two lines", "whitespace", "a\nb", "a\nb\n", "x\ny\n", "x\ny"],
    ["whole lines removed", "whitespace", "  a\n  b\n  c\n", "    b\n", "", "  a\n  c\n"],
    ["indentation and CRLF", "whitespace", "  a\r\n  b\r\n", "a\nb\n", "a\nx\nb\n", "  a\r\n  x\r\n  b\r\n"],
    [
      "one line with wrong indentation",
      "whitespace",
      "\treturn x;\n",
      "    return x;",
      "    return y;",
      "\treturn y;\n",
    ],
    ["an inserted blank line", "whitespace", "  a\n  b\n", "a\nb", "a\n   \nb", "  a\n\n  b\n"],
  ])("finds %s: %s", (_title, rung, text, find, replace, expected) => {
    const result = applied(text, { find, replace });
    expect(result.text).toBe(expected);
    expect(rungs(result)).toEqual([rung]);
  });

  test("prefers what stands there exactly over what is only alike", () => {
    expect(applied("  a\na\n", { find: "\na\n", replace: "\nx\n" }).text).toBe("  a\nx\n");
  });

  test("does not guess inside a line, nor at blank text", () => {
    expect(refused("foo(a, b)", { find: "foo(a,b)", replace: "x" }).reason).toBe("not-found");
    expect(refused("a\nb\n", { find: " \n \n", replace: "x" }).reason).toBe("not-found");
    expect(refused("prefix a\nb suffix\n", { find: "a\n  b", replace: "x" }).reason).toBe("not-found");
  });
});

describe("a passage that occurs more than once", () => {
  test("is refused with the lines where it is", () => {
    const refusal = refused("a\nb\na\nc\na a\n", { find: "a", replace: "x" });
    expect(refusal).toMatchObject({ reason: "ambiguous", edit: 1 });
    expect(refusal.message).toBe("the text to find is there 4 times, at lines 1, 3, 5, 5.");
    expect(refusal.advice).toContain("all");
  });

  test("also counts where it overlaps itself", () => {
    expect(refused("aaa", { find: "aa", replace: "x" }).reason).toBe("ambiguous");
  });

  test("is replaced everywhere when all are wanted, from left to right", () => {
    const result = applied("aaa a\na", { find: "a", replace: "aa", all: true });
    expect(result.text).toBe("aaaaaa aa\naa");
    expect(result.report.edits[0]?.places).toBe(5);
    expect(applied("aaa", { find: "aa", replace: "x", all: true }).text).toBe("xa");
  });

  test("is never guessed at, even when all are wanted", () => {
    const text = "  a();\n\ta();\n";
    for (const all of [false, true]) {
      const refusal = refused(text, { find: "    a();", replace: "b();", all });
      expect(refusal).toMatchObject({ reason: "ambiguous" });
      expect(refusal.message).toContain("at lines 1, 2");
    }
  });

  test("is counted only so far", () => {
    const refusal = refused("a".repeat(1_000_000), { find: "a", replace: "x" });
    expect(refusal.message).toContain("at least 1000 times");
    expect(refusal.message.length).toBeLessThan(300);
  });
});

describe("a passage that does not occur", () => {
  const source = [
    "import { a } from './a.ts';",
    "",
    "export function total(items) {",
    "  let sum = 0;",
    "  for (const item of items) sum += item.price;",
    "  return sum;",
    "}",
    "",
    "export function count(items) {",
    "  return items.length;",
    "}",
    "",
  ].join("\n");

  test("shows the lines that are closest, with their numbers", () => {
    const refusal = refused(source, {
      find: "export function total(items) {\n  let sum = 0;\n  for (const item of items) sum += item.cost;\n",
      replace: "",
    });
    expect(refusal.message).toBe(
      [
        "the text to find is not in the file. The closest to it is:",
        "3 | export function total(items) {",
        "4 |   let sum = 0;",
        "5 |   for (const item of items) sum += item.price;",
      ].join("\n"),
    );
  });

  test("is found by its most telling line when no line agrees", () => {
    const refusal = refused(source, { find: "for (const item of list) sum += item.cost", replace: "" });
    expect(refusal.message).toContain("5 |   for (const item of items) sum += item.price;");
  });

  test("shows nothing when several places are equally close, or none is", () => {
    expect(refused("aaaa bbbb 1\naaaa bbbb 2\n", { find: "aaaa bbbb 3", replace: "" }).message).not.toContain(
      "|",
    );
    expect(refused(source, { find: "zzzzzzzzzzzzz", replace: "" }).message).toBe(
      "the text to find is not in the file.",
    );
  });

  test("says that an earlier edit changed it", () => {
    const refusal = refused("one\ntwo\n", { find: "one", replace: "1" }, { find: "one\ntwo", replace: "x" });
    expect(refusal).toMatchObject({ edit: 2, reason: "not-found" });
    expect(refusal.message).toContain("edit 2 of 2: the text to find was there, but an earlier edit");
  });

  test("says that the file is empty", () => {
    expect(refused("", { find: "x", replace: "y" }).message).toContain("the file is empty");
  });

  test("is shown in bounds, however long its lines are", () => {
    const long = Array.from({ length: 300 }, (_, index) => `${"x".repeat(20_000)}${index}`);
    const refusal = refused(long.join("\n"), {
      find: `${long.slice(10, 60).join("\n").slice(0, 60_000)}?`,
      replace: "",
    });
    expect(refusal.message.length).toBeLessThan(5000);
  });
});

describe("several edits", () => {
  test("are applied in order, each to what the one before left", () => {
    const result = applied(
      "a",
      { find: "a", replace: "b c" },
      { find: "b", replace: "d" },
      { find: "d c", replace: "done" },
    );
    expect(result.text).toBe("done");
  });

  test("may overlap", () => {
    expect(applied("abcdef", { find: "bcd", replace: "x" }, { find: "xe", replace: "y" }).text).toBe("ayf");
  });

  test("are all refused when one is", () => {
    expect(refused("a b", { find: "a", replace: "x" }, { find: "c", replace: "y" })).toMatchObject({
      edit: 2,
    });
  });
});

describe("edits that make no sense are refused:", () => {
  test.each<[string, Edit[]]>([
    ["none", []],
    ["too many", Array.from({ length: editLimits.maxEdits + 1 }, () => ({ find: "a", replace: "b" }))],
    ["an empty find", [{ find: "", replace: "x" }]],
    ["a find too long", [{ find: "x".repeat(editLimits.maxFindLength + 1), replace: "" }]],
  ])("%s", (_title, edits) => {
    const refusal = refused("a", ...edits);
    expect(refusal.reason).toBe("input");
    expect(refusal.advice).toBeTruthy();
  });

  test("one that would blow up the file", () => {
    const text = "a".repeat(40_000);
    expect(refused(text, { find: "a", replace: "x".repeat(10_000), all: true }).reason).toBe("input");
    expect(refused("a".repeat(1_000_000), { find: "a", replace: "b", all: true }).message).toContain(
      "too many",
    );
  });
});

describe("the rest of the file stays unchanged:", () => {
  test("the line ends of a mixed file", () => {
    const text = "a\r\nb\nc\r\nd\ne";
    expect(applied(text, { find: "b", replace: "x" }).text).toBe("a\r\nx\nc\r\nd\ne");
    expect(applied(text, { find: "b\nc\n", replace: "x\ny\n" }).text).toBe("a\r\nx\ny\r\nd\ne");
    expect(applied(text, { find: "c", replace: "c1\nc2" }).text).toBe("a\r\nb\nc1\r\nc2\r\nd\ne");
    expect(applied(text, { find: "b", replace: "b1\nb2" }).text).toBe("a\r\nb1\nb2\nc\r\nd\ne");
    expect(applied(text, { find: "a\nb\nc\n", replace: "" }).text).toBe("d\ne");
    expect(applied(text, { find: "e", replace: "e\nf" }).text).toBe("a\r\nb\nc\r\nd\ne\nf");
  });

  test("a byte order mark, with or without it in the edit", () => {
    expect(applied("\ufeffa\nb", { find: "a", replace: "x" }).text).toBe("\ufeffx\nb");
    expect(applied("\ufeffa\nb", { find: "\ufeffa", replace: "\ufeffx" }).text).toBe("\ufeffx\nb");
    expect(applied("\ufeff  a\nb", { find: "a\nb", replace: "x\ny" }).text).toBe("\ufeff  x\ny");
  });

  test("a missing end of the file, and one that is there", () => {
    expect(applied("a\nb", { find: "a", replace: "x" }).text).toBe("x\nb");
    expect(applied("a\nb\n", { find: "a", replace: "x" }).text).toBe("x\nb\n");
    expect(applied("a", { find: "a", replace: "x" }).text).toBe("x");
  });

  test("a carriage return that ends no line", () => {
    expect(applied("a\rb\r\r\nc\r\n", { find: "c", replace: "x" }).text).toBe("a\rb\r\r\nx\r\n");
  });

  test("and a file of one line takes the line ends it is given", () => {
    expect(applied("a", { find: "a", replace: "x\r\ny" }).text).toBe("x\r\ny");
    expect(applied("a", { find: "a", replace: "x\ny" }).text).toBe("x\ny");
  });
});

test("the report says how, where and what it saved", () => {
  const { report } = applied(
    "a\nb\nc\nd\n",
    { find: "b\n", replace: "b1\nb2\n" },
    { find: "  d", replace: "D" },
    { find: "a", replace: "é" },
  );
  expect(report).toEqual({
    edits: [
      { rung: "exact", places: 1, lines: [[2, 3]] },
      { rung: "whitespace", places: 1, lines: [[5, 5]] },
      { rung: "exact", places: 1, lines: [[1, 1]] },
    ],
    linesChanged: 4,
    rewriteBytes: Buffer.byteLength("é\nb1\nb2\nc\nD\n"),
    editBytes: 2 + 6 + 3 + 1 + 1 + 2,
  });
});
