import { expect, test } from "vitest";
import {
  artifactBody,
  errorBody,
  outageBody,
  plainResult,
  resultBody,
  resultIn,
  withChanges,
} from "../../../src/journal/journal-codec.ts";

const bodyOf = (result: unknown, changes: { path: string }[] = []) =>
  withChanges(resultBody(result, "name"), changes);

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
])("any other result is parsed as JSON: %j", (result) => {
  expect(plainResult(bodyOf(result))).toBeUndefined();
});

test("rows with more than a result are parsed as JSON", () => {
  expect(plainResult(bodyOf("a", [{ path: "b" }]))).toBeUndefined();
  expect(plainResult(bodyOf(undefined))).toBeUndefined();
  expect(plainResult(artifactBody("a"))).toBeUndefined();
  expect(plainResult('{"result":"a","more":"b"}')).toBeUndefined();
});

test("any result can be read from its row", () => {
  for (const result of ["a", 1, null, { a: [1] }, ""])
    expect(JSON.parse(resultIn(resultBody(result, "name")))).toEqual(result);
});

test("changed files are stored beside a result, a hash, and no result", () => {
  const changes = [{ path: "b" }];
  expect(JSON.parse(bodyOf("a", changes))).toEqual({ changes, result: "a" });
  expect(JSON.parse(bodyOf(undefined, changes))).toEqual({ changes });
  expect(JSON.parse(withChanges(artifactBody("c"), changes))).toEqual({ changes, artifact: "c" });
});

test("an outage is recognized by the beginning of its row", () => {
  const error = { name: "Error", message: "down", code: "UNKNOWN" } as never;
  const body = errorBody(error, { outage: true, failure: undefined });
  expect(body.startsWith(outageBody)).toBe(true);
  expect(JSON.parse(body)).toEqual({ outage: true, error });
  expect(errorBody(error, { outage: false, failure: undefined })).toBe(JSON.stringify({ error }));
});
