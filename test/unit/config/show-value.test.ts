import { expect, test } from "vitest";
import { showValue } from "../../../src/config/show-value.ts";

const ring: unknown[] = [];
ring.push(ring);

test.each<[unknown, string]>([
  ["a", '"a"'],
  [Number.NaN, "NaN"],
  [true, "true"],
  [undefined, "undefined"],
  [null, "null"],
  [1n, "1"],
  [[1, "b"], '[1,"b"]'],
  [{ a: 1 }, '{"a":1}'],
  [ring, "an object"],
  [{ toJSON: () => undefined }, "an object"],
  [() => 1, "a function"],
  [Symbol("s"), "a symbol"],
])("%s is shown on one line", (value, shown) => {
  expect(showValue(value)).toBe(shown);
});

test("a long one is cut", () => {
  expect(showValue("x".repeat(1_000))).toHaveLength(83);
  expect(showValue(Array.from({ length: 1_000 }, () => 1))).toMatch(/^\[1,1,.*\.\.\.$/);
});
