import { describe, expect, test } from "vitest";
import { InputInvalid } from "../../../src/domain/errors.ts";
import { searchPattern } from "../../../src/workspace/search.ts";
import { newSeed, seededRandom } from "../domain/seeded-random.ts";
import { clearlyLess, growth } from "./growth.ts";

const matches = async (source: string, text: string, flags = ""): Promise<boolean> =>
  (await searchPattern(`/${source}/${flags}`)).endIn(text) !== -1;

const texts = [
  "",
  "a",
  "b",
  "ab",
  "aab",
  "abab",
  "foo bar",
  "foo_bar",
  "x=12;",
  " \t",
  "A1",
  "é",
  "a-b",
  "[x]",
];

test.each([
  "a",
  "^a",
  "a$",
  "^$",
  "a|b",
  "(a|b)+c?",
  "(?:ab){2}",
  "(?<name>ab)+",
  "a{2,}",
  "(a*)*b",
  "(a|aa)+$",
  "[ab]",
  "[^ab]",
  "[a-z_]+",
  "[a-]",
  String.raw`[\w-]+`,
  String.raw`[\]x]`,
  String.raw`\[x\]`,
  "^.$",
  String.raw`\d+`,
  String.raw`\w+\W\w+`,
  String.raw`\S\s\S`,
  String.raw`\bbar`,
  String.raw`\Bbar`,
  String.raw`\x41`,
  String.raw`\u00e9`,
  String.raw`\t`,
  String.raw`\-`,
  "a+?b",
  "é",
])("%s matches what JavaScript's matches", async (source) => {
  for (const flags of ["", "i"]) {
    const theirs = new RegExp(source, flags);
    for (const text of texts)
      expect([flags, text, await matches(source, text, flags)]).toEqual([flags, text, theirs.test(text)]);
  }
});

test("random expressions match what JavaScript's match", async () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const atom = (depth: number): string => {
    if (depth > 0 && random() < 0.35) return `(?:${source(depth - 1)})`;
    return pick(["a", "b", "c", ".", "[ab]", "[^a]", "[a-c]", "\\w", "\\W", "\\d", "1", " ", "_"]);
  };
  const source = (depth: number): string =>
    Array.from(
      { length: 1 + Math.floor(random() * 3) },
      () => atom(depth) + pick(["", "*", "+", "?", "{1,2}"]),
    ).join("");
  let matched = 0;
  for (let round = 0; round < 1000; round += 1) {
    const expression = source(2);
    const text = Array.from({ length: Math.floor(random() * 8) }, () =>
      pick(["a", "b", "c", "1", " ", "_"]),
    ).join("");
    const expected = new RegExp(expression).test(text);
    expect(await matches(expression, text), `seed ${seed}: /${expression}/ on ${JSON.stringify(text)}`).toBe(
      expected,
    );
    if (expected) matched += 1;
  }
  expect(matched).toBeGreaterThan(200);
});

describe("an expression that", () => {
  test.each([
    "(?=a)",
    "(?!a)",
    "(?<=a)b",
    String.raw`(a)\1`,
    "(",
    "a)",
    "*",
    "a**",
    "b{2,1}",
    "[b-a]",
    "a{1001}",
    "((((a{1000}){1000}){1000}){1000})",
    "(((){1000}){1000}){1000}",
  ])("RE2 cannot follow is refused with advice: %.40s", async (source) => {
    const error = await refusal(source);
    expect(error?.message).toMatch(/^The regular expression is refused: /);
    expect(error?.advice).toBeTruthy();
  });

  test.each([
    ["(a+)+$", "a", "!"],
    ["^(a|a)*$", "a", "!"],
    ["(.*)(.*)(.*)(.*)=(.*)x$", "a=", ""],
    [String.raw`^(\w+\s?)*$`, "word ", "!"],
    ["(x+x+)+y", "x", ""],
  ])("stalls a backtracking engine takes time proportional to the text: %s", async (source, part, end) => {
    const pattern = await searchPattern(`/${source}/`);
    const work = (length: number) => {
      const text = part.repeat(length / part.length) + end;
      return () => expect(pattern.endIn(text)).toBe(-1);
    };
    expect(await growth(work, 100_000)).toBeLessThan(clearlyLess);
  });
});

async function refusal(source: string): Promise<InputInvalid | undefined> {
  try {
    await matches(source, "a");
  } catch (error) {
    if (error instanceof InputInvalid) return error;
    throw error;
  }
  return undefined;
}
