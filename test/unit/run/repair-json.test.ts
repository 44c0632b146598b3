import { expect, test } from "vitest";
import { readLooseJson, repairJson } from "../../../src/run/healing/repair-json.ts";
import { processorMs } from "../../support/processor-time.ts";

test.each([
  ['{"a":1}', { a: 1 }],
  ['Here it is:\n```json\n["a", "b",]\n```\nDone.', ["a", "b"]],
  ["{'a': 'b'}", { a: "b" }],
  ["{a: 1, // the first\n b: True}", { a: 1, b: true }],
  ['{"a": 1 "b": 2}', { a: 1, b: 2 }],
])("loose JSON is read: %j", (text, value) => {
  expect(readLooseJson(text)).toEqual(value);
});

test.each(["no JSON", '{"a":{"b":1},"c":{"d":2', '["a", "b"', "{a}"])(
  "a text that is cut or has no JSON is left alone: %j",
  (text) => {
    expect(readLooseJson(text)).toBeUndefined();
  },
);

test.each(["[", "{", '"', "'", "{a:", "[1,", "/*", "{}", "a("])(
  "a quarter of a megabyte of %j is refused in under a second",
  (text) => {
    const hostile = `[${text.repeat(256_000 / text.length)}]`;
    expect(processorMs(() => readLooseJson(hostile))).toBeLessThan(1000);
  },
);

test("a value is fitted to its schema where the meaning is clear", () => {
  const schema = {
    type: "object",
    properties: { count: { type: "integer" }, userNames: { type: "array", items: { type: "string" } } },
    additionalProperties: false,
  };
  const value = { count: "3", user_names: "one", more: true };
  expect(repairJson(schema, value)).toEqual({ count: 3, userNames: ["one"] });
});
