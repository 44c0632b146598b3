import { expect, test } from "vitest";
import { showValue } from "../../../src/config/show-value.ts";

test.each<[unknown, string]>([
  ["a", '"a"'],
  [Number.NaN, "NaN"],
  [null, "null"],
  [5n, "5n"],
  [[1, "b"], "[ 1, 'b' ]"],
  [new Map(), "Map(0) {}"],
  [{ a: 1 }, "{ a: 1 }"],
])("%s is shown on one line, as what it is", (value, shown) => {
  expect(showValue(value)).toBe(shown);
});

test("nested values may be secrets and are not shown", () => {
  expect(showValue([{ apiToken: "very-secret" }])).toBe("[ [Object] ]");
});

test("a long one is cut", () => {
  expect(showValue("x".repeat(1_000))).toHaveLength(83);
  expect(showValue(Array.from({ length: 1_000 }, () => 1))).toMatch(/^\[ 1, 1, .*\.\.\.$/);
});
