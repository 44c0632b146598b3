import { describe, expect, test } from "vitest";
import { diffLines } from "../../../src/workspace/line-diff.ts";
import { adviseEdit } from "../../../src/workspace/write-guard.ts";
import { newSeed, seededRandom } from "../domain/seeded-random.ts";
import { clearlyLess, growth } from "./growth.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line number ${index + 1}\n`);
const changed = (count: number, ...places: readonly number[]) =>
  numbered(count)
    .map((line, index) => (places.includes(index + 1) ? `changed ${index + 1}\n` : line))
    .join("");

describe("writing a file again", () => {
  test("where few lines differ is refused, with where they are and what it would save", () => {
    const advice = adviseEdit(numbered(100).join(""), changed(100, 5, 40, 41));
    expect(advice).toMatch(/only at line 5, lines 40 to 41 of 100 lines\. Edit those lines/);
    const [, edit, rewrite] = /about (\d+) bytes instead of (\d+)/.exec(advice ?? "") ?? [];
    expect(Number(edit)).toBeLessThan(Number(rewrite) / 2);
  });

  test.each([
    ["half of it differs", numbered(10).join(""), changed(10, 1, 3, 5, 7, 9)],
    ["all of it differs", "a\nb\nc\n", "d\ne\nf\n"],
    ["it was empty", "", "a\nb\n"],
    ["it becomes empty", numbered(100).join(""), ""],
    ["it is one line", "one line", "another line"],
    ["it is two short lines", "a\nb\n", "a\nc\n"],
    ["only its line ends change", numbered(100).join(""), numbered(100).join("").replaceAll("\n", "\r\n")],
    ["most of it is cut away", numbered(100).join(""), numbered(100).slice(0, 3).join("")],
  ])("is right when %s", (_title, before, after) => {
    expect(adviseEdit(before, after)).toBeUndefined();
  });

  test("is refused below half of its size and right above it", () => {
    const lines = (...places: readonly number[]) =>
      Array.from({ length: 20 }, (_, index) =>
        places.includes(index) ? `changed-${index + 10}\n` : `original${index + 10}\n`,
      ).join("");
    // Of 20 lines: 4 changed and 4 around them, then 10 changed and 4 around them.
    expect(adviseEdit(lines(), lines(5, 6))).toContain("lines 6 to 7");
    expect(adviseEdit(lines(), lines(5, 6, 7, 8, 9))).toBeUndefined();
  });

  test.each([
    ["minified JSON", JSON.stringify(Array.from({ length: 3000 }, (_, id) => ({ id, name: `name ${id}` })))],
    ["one word without an end", "QUJD".repeat(12_000)],
    ["a paragraph a line", `${"Words that go on and on, and then some more. ".repeat(900)}\n`.repeat(2)],
  ])("of few long lines is judged by what changed within them: %s", (_title, before) => {
    const middle = before.length / 2;
    const replaced = `${before.slice(0, middle)}#${before.slice(middle + 1)}`;
    const inserted = `start ${before.slice(0, middle)}#${before.slice(middle)}`;
    for (const after of [replaced, inserted]) expect(adviseEdit(before, after)).toMatch(/Edit those lines/);
    expect(adviseEdit(before, before.split("").toReversed().join(""))).toBeUndefined();
  });

  test("with nothing changed says so", () => {
    expect(adviseEdit("a\n", "a\n")).toContain("exactly this content");
    expect(adviseEdit("", "")).toBeUndefined();
  });

  test("with the line ends of another system still counts what really differs", () => {
    const before = numbered(100).join("").replaceAll("\n", "\r\n");
    expect(adviseEdit(before, changed(100, 50))).toContain("line 50 of 100");
  });

  test("of a small file is judged by the same measure", () => {
    const advice = adviseEdit(numbered(20).join(""), changed(20, 10));
    expect(advice).toContain("line 10 of 20");
  });

  test("where lines were added says after which", () => {
    const lines = numbered(100);
    const after = [...lines.slice(0, 30), "new\n", ...lines.slice(30)].join("");
    expect(adviseEdit(lines.join(""), after)).toContain("after line 30 of 100");
  });

  test("with changes all over names the first places only", () => {
    const places = Array.from({ length: 20 }, (_, index) => 20 * index + 5);
    expect(adviseEdit(numbered(400).join(""), changed(400, ...places))).toContain("and 15 other places");
  });
});

describe("a comparison of lines", () => {
  test("turns one text into the other, and is empty only for equal ones", () => {
    const seed = newSeed();
    const random = seededRandom(seed);
    for (let round = 0; round < 2000; round += 1) {
      const line = () => String(Math.floor(random() * (round % 2 === 0 ? 4 : 1000)));
      const lines = Array.from({ length: Math.floor(random() * 20) }, line);
      const others = lines.flatMap((each) =>
        random() < 0.2 ? [] : random() < 0.2 ? [line(), each] : [each],
      );
      const hunks = diffLines(lines, others);
      expect(patched(lines, others, hunks), `seed ${seed}, round ${round}`).toEqual(others);
      expect(hunks.length === 0, `seed ${seed}, round ${round}`).toBe(lines.join() === others.join());
    }
  });

  test("of texts too large for thoroughness goes between the lines that are unique", () => {
    const seed = newSeed();
    const random = seededRandom(seed);
    const lines = Array.from({ length: 30_000 }, (_, index) => (index % 3 === 0 ? "}" : `line ${index}`));
    const others = lines.flatMap((each) => (random() < 0.01 ? [] : random() < 0.01 ? ["new", each] : [each]));
    const hunks = diffLines(lines, others);
    expect(patched(lines, others, hunks)).toEqual(others);
    const touched = hunks.reduce(
      (sum, { from, to, otherFrom, otherTo }) => sum + to - from + otherTo - otherFrom,
      0,
    );
    expect(touched, `seed ${seed}`).toBeLessThan(1000);
  });

  test("of the worst texts ends", () => {
    const same = Array.from({ length: 100_000 }, () => "x");
    const other = Array.from({ length: 100_000 }, (_, index) => (index % 2 === 0 ? "x" : "y"));
    expect(patched(same, other, diffLines(same, other))).toEqual(other);
    const reversed = numbered(100_000).toReversed();
    expect(patched(numbered(100_000), reversed, diffLines(numbered(100_000), reversed))).toEqual(reversed);
  });

  test("takes time in proportion to the size", async () => {
    const work = (count: number) => {
      const lines = numbered(count);
      const others = lines.map((line, index) => (index % 50 === 0 ? "changed" : line));
      return () => diffLines(lines, others);
    };
    expect(await growth(work, 64_000)).toBeLessThan(clearlyLess);
  });
});

function patched(
  lines: readonly string[],
  others: readonly string[],
  hunks: ReturnType<typeof diffLines>,
): string[] {
  const result: string[] = [];
  let at = 0;
  for (const { from, to, otherFrom, otherTo } of hunks) {
    for (const line of lines.slice(at, from)) result.push(line);
    for (const line of others.slice(otherFrom, otherTo)) result.push(line);
    at = to;
  }
  for (const line of lines.slice(at)) result.push(line);
  return result;
}

test("a byte order mark alone is not a difference", () => {
  const text = "one line\nand another\n";
  expect(adviseEdit(`\ufeff${text}`, text)).toBe("The file has exactly this content already.");
  expect(adviseEdit(`\ufeff${text}`, "something else entirely, and much of it\n".repeat(3))).toBeUndefined();
});
