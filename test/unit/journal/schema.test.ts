import { describe, expect, test } from "vitest";
import { eventOf } from "../../../src/journal/events.ts";
import * as is from "../../../src/journal/schema.ts";

describe("a schema", () => {
  const shape = is.union(
    { kind: is.literal("circle"), radius: is.whole, label: is.optional(is.text) },
    { kind: is.literal("path"), points: is.list(is.pair(is.number), 2) },
  );

  test.each<[string, unknown, string | undefined]>([
    ["accepts a variant of a union", { kind: "circle", radius: 1 }, undefined],
    ["accepts an optional field", { kind: "circle", radius: 1, label: "" }, undefined],
    ["refuses a value that is no object", [], "shape must be an object"],
    ["names the variants that a union has", { kind: "dot" }, 'shape.kind must be "circle" or "path"'],
    ["refuses fields of another variant", { kind: "path", radius: 1 }, "shape.radius is not a known field"],
    ["names a field that is missing", { kind: "path" }, "shape.points is missing"],
    [
      "refuses null for an optional field",
      { kind: "circle", radius: 1, label: null },
      "shape.label must be a string",
    ],
    [
      "counts the items of a list",
      {
        kind: "path",
        points: [
          [0, 0],
          [1, 1],
          [2, 2],
        ],
      },
      "shape.points must be a list of at most 2",
    ],
    [
      "names the item at fault",
      {
        kind: "path",
        points: [
          [0, 0],
          [1, Number.NaN],
        ],
      },
      "shape.points[1][1] must be a number",
    ],
    [
      "refuses fractions of whole numbers",
      { kind: "circle", radius: 0.5 },
      "shape.radius must be a whole number",
    ],
    [
      "refuses rounded whole numbers",
      { kind: "circle", radius: 2 ** 53 },
      "shape.radius must be a whole number",
    ],
    [
      "cuts long keys in its message",
      { kind: "circle", ["x".repeat(200)]: 1 },
      `shape.${"x".repeat(80)}… is not`,
    ],
  ])("%s", (_title, value, says) => {
    const fault = shape.check(value, "shape");
    const said = fault === undefined ? "" : `${fault.path} ${fault.problem}`;
    expect(says === undefined ? said === "" : said.includes(says), said).toBe(true);
  });

  test("refuses keys of records that are no names", () => {
    const results = is.record(is.json, is.name);
    expect(results.check(JSON.parse('{"__proto__":1}'), "results")?.path).toBe("results.__proto__");
    expect(results.check({ worker: 1 }, "results")).toBeUndefined();
  });
});

describe("the row session.status", () => {
  const check = (row: object) => eventOf("session.status")?.row.check(row, "");
  const error = { name: "HelpNeeded", message: "m" };

  test("has the data of its reason, and only that", () => {
    expect(check({ status: "parked", reason: "review" })).toBeUndefined();
    expect(check({ status: "parked", reason: "help", error, tickets: ["t"] })).toBeUndefined();
    expect(check({ status: "parked", reason: "review", error })?.path).toBe("error");
    expect(check({ status: "parked", reason: "breaker", error })).toEqual({
      path: "wakeAt",
      problem: "is missing",
    });
  });

  test("names the known reasons", () => {
    expect(check({ status: "parked", reason: "weather" })).toEqual({
      path: "reason",
      problem: 'must be "review" or "help" or "budget" or "breaker" or "setup" or "unknown"',
    });
  });
});

test("properties that every object has are no kinds of rows", () => {
  for (const kind of ["constructor", "__proto__", "toString", "step.model", ""])
    expect(eventOf(kind)).toBeUndefined();
});
