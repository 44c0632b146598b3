import { expect, test } from "vitest";
import { namedMatcher, namedMatchers, readNamedFiles } from "../../../src/workspace/named-files.ts";

test("a list names what its globs match and its exceptions do not", () => {
  const matches = namedMatcher(["src/**", "docs/*.md", "!src/db/**", "!docs/draft.md"]);
  const paths = ["src/a.ts", "src/db/a.sql", "docs/a.md", "docs/draft.md", "other.md"];
  expect(paths.filter(matches)).toEqual(["src/a.ts", "docs/a.md"]);
});

test("an exception holds for every glob, wherever it stands", () => {
  const matchers = namedMatchers(["!**/old/**", "src/**", "docs/**"]);
  expect([...matchers].map(([glob, matches]) => [glob, matches(`${glob.slice(0, 3)}/old/a`)])).toEqual([
    ["src/**", false],
    ["docs/**", false],
  ]);
});

test("alone, an exception means all but that", () => {
  expect(readNamedFiles(["!src/**"])).toEqual({ globs: ["**"], except: ["src/**"] });
  const matches = namedMatcher(["!src/**"]);
  expect(["src/a.ts", "docs/a.md"].filter(matches)).toEqual(["docs/a.md"]);
  expect(["src/a.ts", "docs/a.md", ".env"].filter(namedMatcher(["!src/**", "!docs/**"]))).toEqual([".env"]);
  expect(["a", "b"].filter(namedMatcher([]))).toEqual([]);
});
