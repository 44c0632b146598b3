import { expect, test } from "vitest";
import { plainResult, stepBody } from "../../../src/execution/step-body.ts";

const bodyOf = (result: unknown, changes: { path: string }[] = []) =>
  stepBody({ kind: "result", json: JSON.stringify(result) }, changes);

test.each(["", "a", "two words, and a {brace}", "é😀", " ".repeat(9)])(
  "a text in which nothing is escaped comes out of its row as it went in: %j",
  (text) => {
    expect(plainResult(bodyOf(text))).toBe(text);
  },
);

test.each([
  'a "quote"',
  "a \\ backslash",
  "a\nline",
  "\u0000",
  "\ud800",
  '","changes":[]',
  { result: "a" },
  ["a"],
  1,
  null,
])("everything else is left to who reads JSON: %j", (result) => {
  expect(plainResult(bodyOf(result))).toBeUndefined();
});

test("so are rows that say more than a result, or something else", () => {
  expect(plainResult(bodyOf("a", [{ path: "b" }]))).toBeUndefined();
  expect(plainResult(stepBody({ kind: "nothing" }, []))).toBeUndefined();
  expect(plainResult(stepBody({ kind: "artifact", sha256: "a" }, []))).toBeUndefined();
  expect(plainResult('{"result":"a","more":"b"}')).toBeUndefined();
});
