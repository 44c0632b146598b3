import { describe, expect, test } from "vitest";
import { InputInvalid } from "../../../src/domain/errors.ts";
import { PatternMachine } from "../../../src/workspace/pattern/machine.ts";
import { parseRegularExpression } from "../../../src/workspace/pattern/regular-expression.ts";
import { newSeed, seededRandom } from "../domain/seeded-random.ts";
import { clearlyLess, growth } from "./growth.ts";

const machine = (source: string, ignoreCase = false) =>
  new PatternMachine(parseRegularExpression(source, { ignoreCase }));
const matches = (source: string, text: string, ignoreCase = false): boolean =>
  machine(source, ignoreCase).endOfMatch(text) !== -1;

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
  "ÉCOLE",
  "a\r",
  "😀",
  "a-b",
  "[x]",
];

test.each([
  "a",
  "^a",
  "a$",
  "^a$",
  "^$",
  "$^",
  "a|b",
  "a||b",
  "(a|b)+c?",
  "(?:ab){2}",
  "(?<name>ab)+",
  "a{2,}",
  "a{0}b",
  "a{,2}",
  "{",
  "a{x}",
  "x*",
  "(a*)*b",
  "(a|aa)+$",
  "()",
  "(|a)b",
  "[ab]",
  "[^ab]",
  "^[aceA1]+$",
  "^[^ac]+$",
  "[a-z_]+",
  "[]",
  "[^]",
  "[]a]",
  "[a-]",
  "[-a]",
  String.raw`[\w-]+`,
  String.raw`[\w-z]`,
  String.raw`[\]x]`,
  String.raw`\[x\]`,
  ".",
  "^.$",
  "..",
  String.raw`\d+`,
  String.raw`\D`,
  String.raw`\w+\W\w+`,
  String.raw`\s`,
  String.raw`\S\s\S`,
  String.raw`\bbar`,
  String.raw`\Bbar`,
  String.raw`\b`,
  String.raw`^\B`,
  String.raw`foo\b`,
  String.raw`\x41`,
  String.raw`\u00e9`,
  String.raw`\t`,
  String.raw`\r$`,
  String.raw`[\b]`,
  String.raw`\.`,
  String.raw`\/`,
  String.raw`\-`,
  "a+?b",
  "a??",
  "a{1,2}?b",
  "é",
  "école",
  "[à-ÿ]",
])("%s matches what JavaScript's matches", (source) => {
  for (const flags of ["", "i"]) {
    const theirs = new RegExp(source, flags);
    for (const text of texts) {
      // A range of letters beyond the Latin alphabet is compared as it is written.
      if (source === "[à-ÿ]" && flags === "i") continue;
      expect([flags, text, matches(source, text, flags === "i")]).toEqual([flags, text, theirs.test(text)]);
    }
  }
});

test("patterns at random match what JavaScript's match, and their first match ends as early", () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const atom = (depth: number): string => {
    if (depth > 0 && random() < 0.35) return `(${pick(["", "?:"])}${source(depth - 1)})`;
    return pick(["a", "b", "c", ".", "[ab]", "[^a]", "[a-c]", "\\w", "\\W", "\\d", "1", " ", "_"]);
  };
  const term = (depth: number): string => {
    if (random() < 0.12) return pick(["^", "$", "\\b", "\\B"]);
    return atom(depth) + pick(["", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,1}", "*?", "{2,}"]);
  };
  const source = (depth: number): string => {
    const sequence = () => Array.from({ length: Math.floor(random() * 4) }, () => term(depth)).join("");
    return Array.from({ length: random() < 0.3 ? 2 : 1 }, sequence).join("|");
  };
  let matched = 0;
  for (let round = 0; round < 4000; round += 1) {
    const pattern = source(2);
    const ours = machine(pattern);
    const theirs = new RegExp(pattern);
    for (let each = 0; each < 4; each += 1) {
      const text = Array.from({ length: Math.floor(random() * 8) }, () =>
        pick(["a", "b", "c", "1", " ", "_"]),
      ).join("");
      const end = ours.endOfMatch(text);
      const context = `seed ${seed}: /${pattern}/ on ${JSON.stringify(text)}`;
      expect(end !== -1, `${context} at all`).toBe(theirs.test(text));
      // The definition is slow; a part of the patterns is enough for it.
      const place = round % 8 === 0 ? firstEnd(pattern, text) : end;
      expect(place, `${context} at its end`).toBe(end);
      if (end !== -1) matched += 1;
    }
  }
  expect(matched).toBeGreaterThan(1000);
});

/** By definition: the smallest place where something that matches ends. */
function firstEnd(pattern: string, text: string): number {
  for (let end = 0; end <= text.length; end += 1) {
    for (let start = 0; start <= end; start += 1) {
      const whole = new RegExp(`(?<=^[^]{${start}})(?:${pattern})(?=[^]{${text.length - end}}$)`);
      if (whole.test(text)) return end;
    }
  }
  return -1;
}

describe("a pattern that", () => {
  test.each([
    "(?=a)",
    "(?!a)",
    "(?<=a)b",
    "(?<!a)b",
    String.raw`(a)\1`,
    String.raw`(?<x>a)\k<x>`,
    String.raw`\p{L}`,
    String.raw`\A`,
    "(",
    ")",
    "a)",
    "(a",
    "[",
    "[a",
    "*",
    "+a",
    "a**",
    "a|*",
    "^*",
    "b{2,1}",
    "[b-a]",
    "\\",
    "a{1001}",
    "(?i)a",
    "(".repeat(60) + ")".repeat(60),
    "((((a{1000}){1000}){1000}){1000})",
    "(((){1000}){1000}){1000}",
    "(a|b){1000}(a|b){1000}",
  ])("cannot be followed safely is refused with advice: %.40s", (source) => {
    const error = refusal(source);
    expect(error?.message).toMatch(/^The (?:regular expression|pattern) /);
    expect(error?.advice).toBeTruthy();
  });

  test.each([
    ["(a+)+$", "a", "!"],
    ["^(a|a)*$", "a", "!"],
    ["(.*a){20}$", "a", "!"],
    ["(.*)(.*)(.*)(.*)=(.*)x$", "a=", ""],
    [String.raw`^(\w+\s?)*$`, "word ", "!"],
    ["(x+x+)+y", "x", ""],
  ])("hangs others takes time proportional to the text: %s", async (source, part, end) => {
    const work = (length: number) => {
      const text = part.repeat(length / part.length) + end;
      return () => expect(matches(source, text)).toBe(false);
    };
    expect(await growth(work, 800_000)).toBeLessThan(clearlyLess);
  });

  test("needs too many states is given up, not followed for ever", () => {
    const random = seededRandom(1);
    const text = Array.from({ length: 400_000 }, () => (random() < 0.5 ? "a" : "b")).join("");
    expect(() => matches("(a|b)*a(a|b){40}c", text)).toThrow(InputInvalid);
  });
});

function refusal(source: string): InputInvalid | undefined {
  try {
    matches(source, "a");
  } catch (error) {
    if (error instanceof InputInvalid) return error;
    throw error;
  }
  return undefined;
}
