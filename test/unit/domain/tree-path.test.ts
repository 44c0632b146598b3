import { describe, expect, test } from "vitest";
import { InputInvalid } from "../../../src/domain/errors.ts";
import { PathIndex } from "../../../src/domain/tree.ts";
import { checkPath, foldPath, showPath, treeLimits } from "../../../src/domain/tree-path.ts";
import { newSeed, seededRandom } from "./seeded-random.ts";

const bad: readonly string[] = [
  // Out of the workspace.
  "/etc/passwd",
  "//server/share",
  "/",
  "..",
  "../x",
  "a/../../x",
  "a/..",
  "a/b/../c",
  "~",
  "~/x",
  "~/.ssh/id_rsa",
  "C:/x",
  "c:x",
  "C:",
  "z:\\x",
  "\\\\server\\share",
  "..\\x",
  "a\\b",
  "a\\..\\..\\x",
  "file.txt\\",
  // Not a name.
  "",
  ".",
  "./a",
  "a/.",
  "a/./b",
  "a//b",
  "a/",
  "a/b/",
  " ",
  "a/ ",
  "a/ /b",
  "a.",
  "a..",
  "a ",
  "a. .",
  "a./b",
  "a /b",
  "...",
  // Control, invisible and broken characters.
  "a\0b",
  "a\nb",
  "a\rb",
  "a\tb",
  "\u0007a",
  "a\u007f",
  "a\u0085b",
  "a\u2028b",
  "a\u202etxt.exe",
  "a\u2066b",
  "a\u200bb",
  "a\u00adb",
  "\ufeffa",
  "a\u2060b",
  "a/\u200d",
  "a/\ufe0f\u200c",
  "a\ud800",
  "\udc00a/b",
  // Version control's and Maestro's own.
  ".git",
  ".git/config",
  "a/.git/hooks/post-checkout",
  ".GIT/config",
  ".Git",
  ".gIt/x",
  ".git.",
  ".git /x",
  ".git. .",
  "git~1",
  "GIT~1/config",
  "a/git~2",
  ".git::$INDEX_ALLOCATION/config",
  ".git:x",
  ".git .:x",
  ".g\u200cit/config",
  ".\u200dgit",
  ".gi\ufe0ft",
  ".gıt",
  ".maestro",
  "a/.Maestro/x",
  ".mae\u200cstro",
  ".maeſtro",
  "maestr~1/x",
  // Devices of Windows.
  "CON",
  "con.txt",
  "a/NUL",
  "nul.tar.gz",
  "aux.c",
  "a/prn/b",
  "COM1",
  "com9.log",
  "lpt1.txt",
  "COM¹",
  "lpt².x",
  "CONIN$",
  "conout$.txt",
  "nul .txt",
  "CON:",
  "clock$",
  // Too much.
  "x".repeat(256),
  `a/${"é".repeat(128)}`,
  "a/".repeat(32) + "b",
  `${"x".repeat(200)}/`.repeat(5) + "xxxxxxxxxxxxxxxxxxxxxxxxx",
  "x/".repeat(1_000_000),
  "e\u0301".repeat(1_000_000),
];

const good: readonly (readonly [path: string, normal?: string])[] = [
  ["a"],
  ["README.md"],
  [".gitignore"],
  [".gitattributes"],
  [".github/workflows/ci.yml"],
  ["a/.gitkeep"],
  ["git"],
  ["git~"],
  ["digit~1"],
  [".env"],
  ["..a"],
  ["...a/b"],
  ["a..b"],
  ["-rf"],
  ["~$draft.docx"],
  ["a/~/b"],
  ["app/(auth)/[id]/page.tsx"],
  ["a b/c d.txt"],
  [" a"],
  ["$HOME/`x`;|&.txt"],
  ["console.ts"],
  ["conf/auxiliary.c"],
  ["com10"],
  ["null.ts"],
  [".con"],
  ["Foo::Bar.3pm"],
  ["2026-11-15T10:00.log"],
  ["日本語/ファイル.md"],
  ["👩\u200d💻.md"],
  ["❤\ufe0f.txt"],
  ["می\u200cخواهم.md"],
  ["maestro/main.ts"],
  [".maestro2"],
  ["x".repeat(255)],
  [`${"a/".repeat(31)}b`],
  ["cafe\u0301.md", "café.md"],
  ["\u212b/x", "Å/x"],
  ["u\u0308\u0304".repeat(100), "ǖ".repeat(100)],
  ["constructor/__proto__/toString"],
];

describe("a path that", () => {
  test.each(bad.map((path) => [path]))("is hostile or no path is refused: %.60j", (path) => {
    const error = refusal(path);
    expect(error?.advice).toBeTruthy();
    expect(error?.message.length).toBeLessThan(400);
    expect(error?.message).not.toMatch(/[\p{Cc}\u202e\u2066\u200b\ufeff]/u);
  });

  test.each(good.map(([path, normal = path]) => [path, normal] as const))(
    "is only odd is taken: %.60j",
    (path, normal) => {
      expect(checkPath(path)).toBe(normal);
      expect(checkPath(checkPath(path))).toBe(normal);
    },
  );

  test("is not a text is refused", () => {
    for (const path of [undefined, null, 1, {}, ["a"]]) {
      expect(() => checkPath(path as string)).toThrow(InputInvalid);
    }
  });

  test("was meant well comes back with what to write", () => {
    expect(refusal("/src/a.ts")?.advice).toContain('"src/a.ts"');
    expect(refusal("./src/./a.ts")?.advice).toContain('"src/a.ts"');
  });

  test("is at the limit is taken, and one byte more is not", () => {
    const path = `${`${"x".repeat(200)}/`.repeat(5)}${"y".repeat(19)}`;
    expect(Buffer.byteLength(path)).toBe(treeLimits.maxPathBytes);
    expect(checkPath(path)).toBe(path);
    expect(() => checkPath(`${path}y`)).toThrow(InputInvalid);
  });
});

test("whatever is accepted stays below its root and is accepted again as it is", () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  const pieces = [
    "a",
    "B",
    ".",
    "..",
    "/",
    "\\",
    "git",
    ".git",
    "~",
    "1",
    ":",
    " ",
    "\0",
    "é",
    "e\u0301",
    "\u200c",
  ];
  const piece = () => pieces[Math.floor(random() * pieces.length)] ?? "";
  let accepted = 0;
  for (let round = 0; round < 6000; round += 1) {
    const path = Array.from({ length: 1 + Math.floor(random() * 6) }, piece).join("");
    if (refusal(path) !== undefined) continue;
    const checked = checkPath(path);
    accepted += 1;
    const names = checked.split("/");
    expect(names, `seed ${seed}: ${JSON.stringify(path)}`).not.toContain("..");
    expect(names.map((name) => foldPath(name))).not.toContain(".git");
    expect(new URL(checked.replace(/[^\w/.]/g, "_"), "file:///top/").pathname).toMatch(/^\/top\//);
    expect(checkPath(checked)).toBe(checked);
  }
  expect(accepted).toBeGreaterThan(100);
});

test("paths that some disk takes for one fold to one", () => {
  for (const [a, b] of [
    ["README.md", "readme.MD"],
    ["café", "CAFE\u0301"],
    ["straße", "STRASSE"],
    ["ſ", "S"],
    ["Kelvin", "\u212aelvin"],
    ["ΑΣ", "ας"],
    ["ΑΣ", "ασ"],
    ["a\u200cb", "ab"],
    ["❤", "❤\ufe0f"],
  ] as const)
    expect(foldPath(a)).toBe(foldPath(b));
  expect(foldPath("a")).not.toBe(foldPath("á"));
  expect(foldPath("a/b")).not.toBe(foldPath("ab"));
});

test("a shown path has no character that hides or acts", () => {
  expect(showPath("a\u202eb\u001b[31m\n")).toBe(String.raw`"a\u{202e}b\u001b[31m\n"`);
  expect(showPath("x".repeat(5000)).length).toBeLessThan(200);
});

describe("an index of paths", () => {
  const index = new PathIndex(["src/a.ts", "src/deep/b.ts", "README.md"]);

  test.each([
    ["src/c.ts", undefined],
    ["src/a.ts", undefined],
    ["SRC/c.ts", { kind: "case", other: "src" }],
    ["src/A.ts", { kind: "case", other: "src/a.ts" }],
    ["readme.md", { kind: "case", other: "README.md" }],
    ["src", { kind: "file-folder", other: "src" }],
    ["src/deep", { kind: "file-folder", other: "src/deep" }],
    ["README.md/x", { kind: "file-folder", other: "README.md" }],
    ["Readme.md/x", { kind: "case", other: "README.md" }],
  ])("knows what %s clashes with", (path, clash) => {
    expect(index.clash(path)).toEqual(clash);
  });

  test("forgets a folder with its last file", () => {
    const index = new PathIndex(["a/b/c", "a/d"]);
    index.remove("a/b/c");
    expect(index.clash("a/B")).toBeUndefined();
    expect(index.clash("a")).toEqual({ kind: "file-folder", other: "a" });
    index.remove("a/d");
    expect(index.clash("A")).toBeUndefined();
  });

  test("is the same after any adding and removing as one made anew", () => {
    const seed = newSeed();
    const random = seededRandom(seed);
    const names = ["a", "A", "b", "é", "e\u0301".normalize("NFC"), "É"];
    const present = new Set<string>();
    const index = new PathIndex();
    for (let round = 0; round < 2000; round += 1) {
      const depth = 1 + Math.floor(random() * 3);
      const path = Array.from({ length: depth }, () => names[Math.floor(random() * names.length)]).join("/");
      const clash = index.clash(path);
      expect(clash, `seed ${seed}, round ${round}, ${path}`).toEqual(new PathIndex(present).clash(path));
      const isClash = [...present].some((other) => other !== path && clashes(other, path));
      expect(clash !== undefined, `seed ${seed}, round ${round}, ${path}`).toBe(isClash);
      if (clash !== undefined) continue;
      if (present.delete(path)) index.remove(path);
      else {
        present.add(path);
        index.add(path);
      }
    }
  });
});

/** By definition, without an index: a common beginning spelled in two ways, or a file where the other has a folder. */
function clashes(a: string, b: string): boolean {
  const [x, y] = [a.split("/"), b.split("/")];
  for (let depth = 0; depth < Math.min(x.length, y.length); depth += 1) {
    const [one, other] = [x[depth] ?? "", y[depth] ?? ""];
    if (foldPath(one) !== foldPath(other)) return false;
    if (one !== other) return true;
  }
  return x.length !== y.length;
}

/** Anything else that is thrown is a bug. */
function refusal(path: string): InputInvalid | undefined {
  try {
    checkPath(path);
  } catch (error) {
    if (error instanceof InputInvalid) return error;
    throw error;
  }
  return undefined;
}
