import { expect, test } from "vitest";
import { shortIds } from "../../../src/cli/commands/sessions.ts";
import {
  ago,
  countdown,
  duration,
  money,
  number,
  plain,
  shortNumber,
} from "../../../src/cli/terminal/format.ts";
import { screenOf } from "../../../src/cli/terminal/screen.ts";
import { bar, table } from "../../../src/cli/terminal/table.ts";
import { cut, widthOf, wrap } from "../../../src/cli/terminal/width.ts";

test.each([
  [0, "0.0 s"],
  [1_234, "1.2 s"],
  [9_940, "9.9 s"],
  [9_990, "10 s"],
  [59_900, "1 min"],
  [61_000, "1 min 1 s"],
  [7_500_000, "2 h 5 min"],
  [90_000_000, "1 d 1 h"],
  [-5, "0.0 s"],
])("%d ms are said as %s", (ms, said) => expect(duration(ms)).toBe(said));

test.each([
  [0, "just now"],
  [61_000, "1 min ago"],
  [3_599_000, "59 min ago"],
  [86_400_000, "yesterday"],
  [5 * 86_400_000, "5 days ago"],
  [-60_000, "just now"],
])("what was %d ms back is %s", (ms, said) =>
  expect(ago(1_000_000_000_000 - ms, 1_000_000_000_000)).toBe(said),
);

test("a countdown never stands at 0 while one still waits", () => {
  expect([1, 999, 1_001, 61_000, 0, -1].map(countdown)).toEqual([
    "1 s",
    "1 s",
    "2 s",
    "1 min 1 s",
    "now",
    "now",
  ]);
});

test("small sums differ from zero, and an unknown price differs from a sum", () => {
  expect([0, 0.00001, 0.0123, 0.5, 1_234.5, null].map(money)).toEqual([
    "$0.00",
    "<$0.0001",
    "$0.0123",
    "$0.50",
    "$1,234.50",
    "price unknown",
  ]);
});

test("large numbers can be read", () => {
  expect([1_234_567, 999, 0].map(number)).toEqual(["1,234,567", "999", "0"]);
  expect([950, 12_345, 999_600, 4_500_000].map(shortNumber)).toEqual(["950", "12.3k", "1.0M", "4.5M"]);
});

test("text from outside cannot control the terminal or reverse text", () => {
  expect(plain("a\u001b[31mb\nc\u202ed\u0007")).toBe("a [31mb c d ");
});

test.each([
  ["rocket", "🚀", 2],
  ["heart with variation selector", "❤️", 2],
  ["sun with variation selector", "☀️", 2],
  ["airplane with variation selector", "✈️", 2],
  ["warning sign with variation selector", "⚠️", 2],
  ["keycap", "1️⃣", 2],
  ["flag", "🇩🇪", 2],
  ["skin tone", "👍🏽", 2],
  ["family of four", "👨‍👩‍👧‍👦", 2],
  ["profession", "🧑‍💻", 2],
  ["rainbow flag", "🏳️‍🌈", 2],
  ["watch, wide by itself", "⌚", 2],
  ["mahjong tile", "🀄", 2],
  ["check mark without variation selector", "✔", 1],
  ["play mark without variation selector", "▶", 1],
  ["clock mark", "◷", 1],
  ["trade mark", "™", 1],
  ["smiley without variation selector", "☺", 1],
  ["Japanese", "日本", 4],
  ["Hangul from parts", "\u1112\u1161\u11ab", 2],
  ["full-width letter", "Ａ", 2],
  ["combining accent", "e\u0301", 1],
  ["zero-width space", "\u200b", 0],
  ["ellipsis and blocks", "…█▏", 3],
])("the width of %s is counted as terminals show it", (_, text, width) => expect(widthOf(text)).toBe(width));

test("text is cut between graphemes", () => {
  expect(cut("日本語", 4)).toBe("日…");
  expect(cut("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 3)).toBe("👨‍👩‍👧‍👦…");
  expect(cut("abc", 3)).toBe("abc");
  expect(cut("abcd", 1)).toBe("…");
  expect(cut("abcd", 0)).toBe("");
});

test("text is wrapped between words, and a word that is too long is split", () => {
  expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrap("abcdefghij kl", 4)).toEqual(["abcd", "efgh", "ij", "kl"]);
  expect(wrap("日本語 x", 3)).toEqual(["日", "本", "語", "x"]);
  expect(wrap("🧑‍💻🧑‍💻", 1)).toEqual(["🧑‍💻", "🧑‍💻"]);
  expect(wrap("", 10)).toEqual([]);
});

test.each([20, 30, 44, 80, 200])("no line of a table is wider than %d columns", (columns) => {
  const drawn = table(
    [
      { head: "session", yields: 1 },
      { head: "key" },
      { head: "status" },
      { head: "cost", align: "right", yields: 2 },
    ],
    [
      [
        "01m7gvk9k9kd50ry1qyrs6fgm9",
        "a-rather-long-key-of-somebody",
        "running (its process is gone)",
        "$0.01",
      ],
      ["01m7gvk9k9kd50ry1qyrs6fgm8", "日本語の鍵", "parked (review)", "$12.50"],
    ],
    columns,
  );
  for (const line of drawn.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(columns);
  expect(drawn).toContain("key");
});

test("a column that shrinks is cut before another is left out, and takes the room that is left", () => {
  const columns = [{ head: "id" }, { head: "brief", shrinksTo: 6 }, { head: "team", yields: 1 }];
  const draw = (width: number) => table(columns, [["01", "a long brief", "product"]], width).split("\n")[1];
  expect(draw(40)).toBe("01  a long brief  product");
  expect(draw(21)).toBe("01  a long …  product");
  expect(draw(19)).toBe("01  a lon…  product");
  expect(draw(18)).toBe("01  a long brief");
});

test("a short id is the shortest beginning that no other session has, and at least the time in it", () => {
  const ids = ["01m7gvk9k9kd50ry1qyrs6fgm9", "01m7gvk9k9kd50ry1qyrs6fgma", "01m7gvk9zzkd50ry1qyrs6fgm8"];
  expect([...shortIds(ids).values()]).toEqual([ids[0], ids[1], "01m7gvk9zz"]);
  expect(shortIds([]).size).toBe(0);
});

test("a table without a terminal is not cut", () => {
  const long = "x".repeat(500);
  expect(table([{ head: "a" }, { head: "b" }], [[long, long]], Number.POSITIVE_INFINITY)).toContain(
    `${long}  ${long}`,
  );
});

test("a bar is as long as its share, and small shares are seen", () => {
  expect([0, 0.5, 1, 2, -1].map((share) => bar(share, 4))).toEqual(["", "██", "████", "████", ""]);
  expect(bar(0.03, 10)).not.toBe("");
});

test.each([
  [{ isTTY: true, columns: 100, rows: 30 }, {}, { columns: 100, rows: 30, color: true, live: true }],
  [{ isTTY: true, columns: 100, rows: 30 }, { NO_COLOR: "1" }, { color: false, live: true }],
  [{ isTTY: true, columns: 100, rows: 30 }, { NO_COLOR: "" }, { color: true }],
  [{ isTTY: true, columns: 0, rows: 0 }, {}, { columns: 80, rows: 24 }],
  [{ isTTY: true }, { TERM: "dumb" }, { color: false, live: false }],
  [{}, {}, { columns: Number.POSITIVE_INFINITY, color: false, live: false }],
  [{}, { FORCE_COLOR: "1" }, { color: true, live: false }],
  [{ isTTY: true }, { FORCE_COLOR: "0" }, { color: false }],
])("a terminal %j with %j is %j", (stream, env, screen) =>
  expect(screenOf(stream, env)).toMatchObject(screen),
);
