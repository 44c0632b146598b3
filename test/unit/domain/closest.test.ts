import { expect, test } from "vitest";
import { closest, didYouMean } from "../../../src/domain/closest.ts";
import { isName } from "../../../src/domain/names.ts";

const keys = ["personas", "phases", "budget", "contract", "deliverables", "model"];

test.each([
  ["persona", "personas"],
  ["phsaes", "phases"],
  ["BUDGET", "budget"],
  ["contarct", "contract"],
  ["deliverable_s", "deliverables"],
  ["deliv", "deliverables"],
  ["modle", "model"],
])("%s suggests %s", (word, expected) => {
  expect(closest(word, keys)).toBe(expected);
  expect(didYouMean(word, keys)).toBe(` Did you mean "${expected}"?`);
});

test.each(["", "p", "xy", "completely", "x".repeat(1_000_000)])("%.20s suggests nothing", (word) => {
  expect(closest(word, keys)).toBeUndefined();
  expect(didYouMean(word, keys)).toBe("");
});

test("words with no letter in common are not suggested", () => {
  expect(closest("ab", ["xy", "cd"])).toBeUndefined();
});

test("a name is a letter and up to 63 letters, digits, hyphens and underscores", () => {
  for (const name of ["a", "Build_2-x", `a${"b".repeat(63)}`]) expect(isName(name)).toBe(true);
  for (const name of ["", "1a", "-a", "a b", "a/b", "../a", "é", "a\n", `a${"b".repeat(64)}`])
    expect(isName(name)).toBe(false);
});
