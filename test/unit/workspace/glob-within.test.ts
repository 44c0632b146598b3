import { describe, expect, test } from "vitest";
import { globMatcher, isWithin } from "../../../src/workspace/glob.ts";
import { processorMs } from "../../support/processor-time.ts";

describe("a glob within another", () => {
  test.each([
    ["src/*.ts", "src/**"],
    ["src/**/*.ts", "src/**"],
    ["src/**/*.test.ts", "src/**/*.ts"],
    ["src/**", "**"],
    ["docs/*.{md,txt}", "docs/*"],
    ["docs/[ab].md", "docs/?.md"],
    ["src/a.ts", "src/**"],
    ["./src/*.ts", "src/*.ts"],
    ["@(a|b)/*", "{a,b}/**"],
    ["a/**", "!b/**"],
  ])("%s is within %s", (inner, outer) => {
    expect(isWithin(inner, outer)).toBe(true);
  });

  test.each([
    ["src/**", "src/*.ts"],
    ["src/*.ts", "test/**"],
    ["**/*.test.ts", "src/**"],
    ["src/**", "**/*.test.ts"],
    ["docs/*", "docs/*.md"],
    ["docs/**", "docs/*"],
    ["!src/**", "src/**"],
    ["a*", "b*"],
    ["src", "src/**"],
  ])("%s is not within %s", (inner, outer) => {
    expect(isWithin(inner, outer)).toBe(false);
  });

  test("agrees with what the globs match", () => {
    const globs = ["**", "*", "a/*", "a/**", "**/b", "{a,c}/*.b", "a/?.b", "a/[!x].b", "a/@(x|y).b", "!a/*"];
    const letters = ["a", "b", "c", "x", "y", "/", "."];
    const texts = [""];
    for (let from = 0, length = 1; length <= 5; length += 1) {
      const end = texts.length;
      for (; from < end; from += 1) for (const letter of letters) texts.push(`${texts[from]}${letter}`);
    }
    const pairs = globs.flatMap((inner) => {
      const matched = texts.filter(globMatcher(inner));
      return globs.map((outer) => ({
        pair: `${inner} in ${outer}`,
        said: isWithin(inner, outer),
        seen: matched.length > 0 && matched.every(globMatcher(outer)),
      }));
    });
    expect(pairs.filter(({ said, seen }) => said !== seen).map(({ pair }) => pair)).toEqual([]);
  });

  test("gives up on globs that were made to be slow, at once", () => {
    const slow = `${"*a".repeat(40)}*`;
    const took = processorMs(() => {
      isWithin(slow, `${"*b".repeat(40)}*`);
      isWithin(`**/${"{a,b}?".repeat(60)}`, slow);
    });
    expect(took).toBeLessThan(2_000);
  });
});
