import { describe, expect, test } from "vitest";
import { applyEdits, type Edit } from "../../../src/workspace/edit.ts";
import { newSeed, seededRandom } from "../domain/seeded-random.ts";
import { applied, refused } from "./edited.ts";
import { clearlyLess, growth } from "./growth.ts";

test("edits at random: what is replaced exactly is replaced, and everything else keeps every byte", () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  for (let round = 0; round < 3000; round += 1) {
    const lines = Array.from(
      { length: 1 + Math.floor(random() * 8) },
      (_, index) => `${pick(["", "  ", "\t"])}line ${index}`,
    );
    const ends = lines.map(() => pick(["\n", "\r\n"]));
    const text = lines
      .map((line, index) => line + (index === lines.length - 1 && random() < 0.5 ? "" : ends[index]))
      .join("");
    const from = Math.floor(random() * lines.length);
    const to = from + 1 + Math.floor(random() * (lines.length - from));
    const context = `seed ${seed}, round ${round}`;
    // Without the end of the last line, and with LF only, as a model would write it.
    const find = lines.slice(from, to).join("\n");
    const before = text.slice(0, offset(text, from));
    const after = text.slice(
      offset(text, from) +
        text
          .slice(offset(text, from))
          .split("\n")
          .slice(0, to - from)
          .join("\n")
          .replace(/\r$/, "").length,
    );
    const result = applied(text, { find, replace: "NEW" });
    expect(result.text, `${context}, exact`).toBe(`${before}NEW${after}`);
    const changed = lines.slice(from, to).map((line) => `    ${line.trim()}  `);
    const tolerant = applied(text, { find: changed.join("\n"), replace: "    NEW" });
    const indent = /^\s*/.exec(lines[from] ?? "")?.[0] ?? "";
    expect(tolerant.text, `${context}, tolerant`).toBe(`${before}${indent}NEW${after}`);
  }
});

function offset(text: string, line: number): number {
  let at = 0;
  for (let index = 0; index < line; index += 1) at = text.indexOf("\n", at) + 1;
  return at;
}

describe("large files", () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, index) => `  const value${index} = compute(${index % 97});`);
  test.each<[string, (text: string, count: number) => Edit]>([
    ["found exactly", (_text, count) => ({ find: `value${count - 2} =`, replace: "x =" })],
    [
      "found by its lines",
      (_text, count) => ({ find: `const value${count - 2} = compute(${(count - 2) % 97});  `, replace: "x" }),
    ],
    ["not found, but alike", () => ({ find: "const value77x = computed(3);\nnothing else", replace: "x" })],
    ["not found at all", () => ({ find: "?".repeat(300), replace: "x" })],
    ["long and not found", (text) => ({ find: `${text.slice(0, 60_000)}?`, replace: "x" })],
  ])("take time in proportion to their size: %s", async (_title, edit) => {
    const work = (count: number) => {
      const text = lines(count).join("\n");
      return () => applyEdits(text, [edit(text, count)]);
    };
    expect(await growth(work, 48_000)).toBeLessThan(clearlyLess);
  });

  test("of one repeated line or letter are no trap", () => {
    const same = "x\n".repeat(500_000);
    for (const find of [
      "x\n".repeat(20_000) + "y",
      `y\n${"x\n".repeat(20_000)}`,
      `  x\n${"x\n".repeat(20_000)}  y`,
    ]) {
      expect(refused(same, { find, replace: "" }).reason).toBe("not-found");
    }
    const letters = "a".repeat(1_000_000);
    for (const find of [
      `${"a".repeat(60_000)}b`,
      `b${"a".repeat(60_000)}`,
      `${"a".repeat(30_000)}b${"a".repeat(30_000)}`,
    ]) {
      expect(refused(letters, { find, replace: "" }).reason).toBe("not-found");
    }
  });
});
