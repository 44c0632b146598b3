import picomatch from "picomatch";
import { describe, expect, test } from "vitest";
import { InputInvalid } from "../../../src/domain/errors.ts";
import { globMatcher } from "../../../src/workspace/glob.ts";
import { newSeed, seededRandom } from "../domain/seeded-random.ts";

const paths = [
  "a",
  "b",
  "ab",
  "abc",
  "aXb",
  "a-b",
  "a,b",
  "{a}",
  "[x]",
  "x{a",
  ".env",
  "x.md",
  "a/b",
  "a/x.ts",
  "a/b/c",
  "a/bb/c",
  "src/a.ts",
  "src/.hidden/x.ts",
  "src/b/c.test.ts",
  "docs/x.md",
  "docs/y/z.md",
  "app/[id]/page.tsx",
];

test.each([
  "*",
  "**",
  "a",
  "a/*",
  "docs/**",
  "**/b",
  "a/**/c",
  "a/b/**/c",
  "*.md",
  "**.md",
  "**/*.md",
  "docs/*",
  "docs/**/*",
  "{a,b}",
  "{src,app}/**",
  "{a,{b,ab}}",
  "{,a}b",
  "a{,/b}",
  "{a}",
  "**/*.{ts,md}",
  "**/*.{test,spec}.ts",
  "a?c",
  "??",
  "[ab]",
  "[a-c]*",
  "[^a]",
  "[a-]b",
  "a[-]b",
  "[[]x]",
  "!a",
  "!**/*.ts",
  "./a",
  "././a",
  "a**b",
  "a*b",
  "src/**/*.ts",
  "**/.*",
  "**/.hidden/**",
  "*/",
  "a/",
  "@(a|b)",
  "+(a|b)",
  "?(a)b",
  "*(a|b)c",
  "@(a|b)/*",
  String.raw`\{a\}`,
  String.raw`\[x\]`,
  String.raw`a\,b`,
  "x[",
  "x{a",
  "***",
  "a/***",
  "**/**",
  "**/{a,b}",
  "*/**",
  "*/*",
  "app/[id]/page.tsx",
  "a//b",
])("%s means what picomatch makes of it", (glob) => {
  const theirs = picomatch(glob, { dot: true });
  const ours = globMatcher(glob);
  expect(paths.filter((path) => ours(path))).toEqual(paths.filter((path) => theirs(path)));
});

test("so do globs at random", () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const text = (pieces: readonly string[], most: number) =>
    Array.from({ length: 1 + Math.floor(random() * most) }, () => pick(pieces)).join("");
  let matched = 0;
  for (let round = 0; round < 3000; round += 1) {
    const names = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
      pick(["**", text(["a", "b", "*", "?", ".", "[ab]", "{a,b}", "{a,bb}"], 3)]),
    );
    // At the end they differ on purpose: what is under a folder is not the folder.
    const glob = [...names, "*"].join("/").replaceAll(/\*{3,}/g, "*");
    const path = Array.from({ length: 1 + Math.floor(random() * 4) }, () =>
      text(["a", "b", "c", "ab"], 2),
    ).join("/");
    if (/(?:^|\/)\.{1,2}(?:\/|$)|[^/]\*\*|\*\*[^/]/.test(glob)) continue;
    const isMatch = globMatcher(glob)(path);
    expect(isMatch, `seed ${seed}: ${glob} on ${path}`).toBe(picomatch(glob, { dot: true })(path));
    if (isMatch) matched += 1;
  }
  expect(matched).toBeGreaterThan(100);
});

describe("on purpose unlike picomatch,", () => {
  test.each([
    ["docs/**", "docs", false],
    ["@(a|b)/**", "a", false],
    ["@(a|b)?", "ac", true],
    ["src/**.ts", "src/b/c.test.ts", true],
    ["[!a]", "b", true],
    ["[!a]", "a", false],
    ["app/(auth)/*.tsx", "app/(auth)/page.tsx", true],
    ["(a+)+b", "aab", false],
    ["(a+)+b", "(a+)+b", true],
  ])("%s on %s is %s", (glob, path, expected) => {
    expect(globMatcher(glob)(path)).toBe(expected);
  });
});

test("characters that mean something in other languages mean themselves", () => {
  for (const path of ["a.b$^|()+", "😀", "日本", "a b", "#", "%", "a'b"]) {
    expect(globMatcher(path)(path)).toBe(true);
    expect(globMatcher(`${path}*`)(`${path}x`)).toBe(true);
    expect(globMatcher(path)("axb$^|()+")).toBe(false);
  }
});

test.each([
  `${"*a".repeat(100)}*b`,
  `${"**/a/".repeat(60)}b`,
  "+(+(+(a|aa)|a*)|*)b",
  `${"{a,aa}".repeat(60)}b`,
])("a glob made to be slow is not: %.20s", (glob) => {
  const matches = globMatcher(glob);
  // One way of trying them all would not come back from the first.
  for (const path of ["a".repeat(255), `${"a/".repeat(31)}a`]) expect(matches(path)).toBe(false);
});

test.each([
  ["too long", "*".repeat(1001)],
  ["too deep", `${"{a,".repeat(30)}b${"}".repeat(30)}`],
  ["too many alternatives", `${"{aaaa,bbbb,cccc,dddd}".repeat(40)}x`.repeat(2).slice(0, 1000)],
  ["a negation in the middle", "!(a)"],
])("a glob that is %s is refused or answered, and quickly", (_title, glob) => {
  let answer: unknown;
  try {
    answer = globMatcher(glob)("a");
  } catch (error) {
    answer = error;
  }
  expect(answer === false || InputInvalid.is(answer)).toBe(true);
});

test("braces without a comma, in each other, take no time", () => {
  expect(globMatcher(`${"{".repeat(400)}a${"}".repeat(400)}`)("a")).toBe(false);
});
