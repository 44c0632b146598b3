import { describe, expect, test } from "vitest";
import { bytes, counted, listed, tokens } from "../../../dashboard/src/format/count.ts";
import { limitMoney, money, moneyRange, parseMoney } from "../../../dashboard/src/format/money.ts";
import { oneLine, plainText } from "../../../dashboard/src/format/plain-text.ts";
import { age, clock, countdown, duration, moment, soon } from "../../../dashboard/src/format/time.ts";
import { processorMs } from "../../support/processor-time.ts";

test.each([
  [3.42, "$3.42"],
  [0, "$0.00"],
  [0.004, "<$0.01"],
  [0.005, "$0.01"],
  [1234.5, "$1,234.50"],
  [-2, "-$2.00"],
  [null, "price unknown"],
])("%s dollars are written %s", (usd, text) => {
  expect(money(usd)).toBe(text);
});

test("a range names its dollars once, and only one end where both look the same", () => {
  expect(moneyRange({ lowUsd: 0.9, highUsd: 2.4 })).toBe("$0.90 to 2.40");
  expect(moneyRange({ lowUsd: 0.901, highUsd: 0.902 })).toBe("$0.90");
  expect(limitMoney(15)).toBe("15");
  expect(limitMoney(7.5)).toBe("7.50");
});

test.each([
  ["11.00", 11],
  ["$ 11", 11],
  ["1,250.50", 1250.5],
  [".5", 0.5],
  ["12,50", undefined],
  ["-3", undefined],
  ["1e9", undefined],
  ["99999999", undefined],
  ["", undefined],
])("an amount typed as %j is read as %s", (text, usd) => {
  expect(parseMoney(text)).toBe(usd);
});

test.each([
  [834, "834"],
  [9800, "9.8k"],
  [61_200, "61.2k"],
  [99_950, "100k"],
  [999_499, "999k"],
  [999_500, "1.0M"],
  [1_240_000, "1.2M"],
])("%d tokens are written %s", (value, text) => {
  expect(tokens(value)).toBe(text);
});

test("sizes, counts and lists read as people say them", () => {
  expect([bytes(1), bytes(999), bytes(999_600), bytes(48_256)]).toEqual([
    "1 byte",
    "999 bytes",
    "1.0 MB",
    "48.3 kB",
  ]);
  expect([counted(1, "entry", "entries"), counted(1487, "entry", "entries")]).toEqual([
    "1 entry",
    "1,487 entries",
  ]);
  expect([listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])]).toEqual([
    "",
    "a",
    "a and b",
    "a, b and c",
  ]);
});

describe("times", () => {
  test.each([
    [210, "0.21 s"],
    [8400, "8.4 s"],
    [14_200, "14.2 s"],
    [26_000, "26 s"],
    [59_600, "1 m 00 s"],
    [242_000, "4 m 02 s"],
    [7_500_000, "2 h 05 m"],
    [270_000_000, "3 d 3 h"],
  ])("%d ms took %s", (milliseconds, text) => {
    expect(duration(milliseconds)).toBe(text);
  });

  test("a countdown never goes below zero and never shows a second too few", () => {
    expect([countdown(40_001), countdown(728_000), countdown(3_728_000), countdown(-5)]).toEqual([
      "0:41",
      "12:08",
      "1:02:08",
      "0:00",
    ]);
    expect([soon(2001), soon(0), soon(180_000)]).toEqual(["in 3 s", "now", "in 3 m"]);
    expect([age(22_000), age(720_000), age(5_000_000), age(260_000_000)]).toEqual([
      "22 s",
      "12 m",
      "1 h",
      "3 d",
    ]);
  });

  test("at 3 am, an event before midnight shows its time of day", () => {
    const stopped = new Date(2026, 10, 15, 23, 51).getTime();
    const three = new Date(2026, 10, 16, 3, 0).getTime();
    expect(moment(stopped, three)).toBe("23:51");
    expect(moment(stopped, three + 24 * 3_600_000)).toBe("Nov 15, 23:51");
    expect(moment(new Date(2025, 0, 2, 9, 5).getTime(), three)).toBe("Jan 2 2025, 09:05");
    expect(clock(stopped)).toBe("23:51");
  });
});

describe("text from outside", () => {
  test("loses terminal codes and control characters, keeps lines and tabs", () => {
    expect(plainText("\u001b[31;1mred\u001b[0m\tx\r\ny\u0007\u0000 \u001b]0;title\u0007end")).toBe(
      "red\tx\ny end",
    );
  });

  test("shows what would reorder or hide the rest of a line", () => {
    expect(plainText("safe\u202Etxt.exe")).toBe("safe\\u202etxt.exe");
    expect(plainText("a\u200Bb\u2066c\u2069")).toBe("a\\u200bb\\u2066c\\u2069");
  });

  test("keeps markup as the text it is, and right-to-left letters as letters", () => {
    expect(plainText("<script>x</script> שלום")).toBe("<script>x</script> שלום");
  });

  test("is cut to one line without breaking a character in two", () => {
    expect(oneLine("a\n\n  b\tc")).toBe("a b c");
    const cut = oneLine(`${"x".repeat(8)}😀😀`, 10);
    expect(cut).toBe(`${"x".repeat(8)}\uFFFD…`);
    expect(cut.isWellFormed()).toBe(true);
  });

  test("costs no more than what is shown, whatever its length", () => {
    const long = "a ".repeat(5_000_000);
    expect(processorMs(() => void oneLine(long, 100))).toBeLessThan(1500);
  });
});
