import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/domain/json.ts";
import { checkSchema, showProblem, validateJson } from "../../../src/workspace/json-schema.ts";

const problems = (schema: Json, value: Json): string[] => {
  expect(checkSchema(schema)).toEqual([]);
  return validateJson(schema, value).map(showProblem);
};

describe("a value against a schema", () => {
  test.each<[string, Json, Json[], Json[]]>([
    ["string", { type: "string" }, ["", "a"], [1, null, [], {}]],
    ["integer", { type: "integer" }, [1, -0, 1e3], [1.5, "1", null]],
    ["number", { type: "number" }, [1, 1.5], ["1", true]],
    ["boolean", { type: "boolean" }, [true, false], [0, "true"]],
    ["null", { type: "null" }, [null], [0, "", false]],
    ["array", { type: "array" }, [[]], [{}, "a"]],
    ["object", { type: "object" }, [{}], [[], null]],
    ["one of several types", { type: ["string", "null"] }, ["a", null], [1]],
    ["nullable", { type: "string", nullable: true }, ["a", null], [1]],
    ["enum", { enum: ["a", 1, null, { x: [1] }] }, ["a", 1, null, { x: [1] }], ["b", "1", { x: [2] }]],
    ["const", { const: { a: [1], b: 2 } }, [{ b: 2, a: [1] }], [{ a: [1] }, null]],
    ["minimum and maximum", { minimum: 1, maximum: 3 }, [1, 3, "not a number"], [0, 4]],
    ["exclusive bounds", { exclusiveMinimum: 1, exclusiveMaximum: 3 }, [2], [1, 3]],
    ["length in characters", { minLength: 2, maxLength: 2 }, ["ab", "👍👍"], ["a", "abc", "👍"]],
    ["pattern", { pattern: "^\\p{L}+$" }, ["abc", "äöü", 5], ["a1", ""]],
    [
      "items",
      { items: { type: "string" }, minItems: 1, maxItems: 2 },
      [["a"], ["a", "b"]],
      [[], ["a", "b", "c"], [1]],
    ],
    ["required", { required: ["a"] }, [{ a: null }, "no object"], [{}, { b: 1 }]],
    [
      "no more than is named",
      { properties: { a: true }, additionalProperties: false },
      [{}, { a: 1 }],
      [{ b: 1 }],
    ],
    [
      "others of one form",
      { properties: { a: {} }, additionalProperties: { type: "number" } },
      [{ a: "x", b: 1 }],
      [{ b: "x" }],
    ],
    ["names of one form", { propertyNames: { pattern: "^[a-z]+$" } }, [{ ab: 1 }], [{ A1: 1 }]],
    ["allOf", { allOf: [{ type: "string" }, { minLength: 2 }] }, ["ab"], ["a", 1]],
    ["anyOf", { anyOf: [{ type: "string" }, { type: "number" }] }, ["a", 1], [null]],
    ["oneOf", { oneOf: [{ minimum: 0 }, { maximum: 10 }] }, [-1, 11], [5]],
    ["not", { not: { type: "string" } }, [1, null], ["a"]],
    [
      "if, then and else",
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      { if: { required: ["command"] }, then: { required: ["args"] }, else: { required: ["text"] } },
      [{ command: 1, args: 1 }, { text: 1 }],
      [{ command: 1, text: 1 }, {}],
    ],
    [
      "prefixItems, with items for the rest",
      { prefixItems: [{ type: "string" }, { type: "number" }], items: { type: "boolean" } },
      [[], ["a"], ["a", 1, true]],
      [[1], ["a", "b"], ["a", 1, 2]],
    ],
    ["contains", { contains: { minimum: 5 } }, [[1, 5], "no list"], [[], [1, 2]]],
    [
      "minContains and maxContains",
      { contains: { const: 1 }, minContains: 2, maxContains: 3 },
      [
        [1, 1],
        [1, 1, 1, 2],
      ],
      [[1], [1, 1, 1, 1]],
    ],
    [
      "uniqueItems",
      { uniqueItems: true },
      [[], [1, "1", [1], { a: 1 }]],
      [
        [1, 1],
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      ],
    ],
    ["multipleOf, by decimal digits", { multipleOf: 0.01 }, [0.07, 4.35, 1e300, 0, "a"], [0.075, 1e-9]],
    [
      "patternProperties, which additionalProperties leaves alone",
      { patternProperties: { "^x-": { type: "number" } }, additionalProperties: false },
      [{}, { "x-a": 1 }],
      [{ "x-a": "1" }, { y: 1 }],
    ],
    [
      "minProperties and maxProperties",
      { minProperties: 1, maxProperties: 2 },
      [{ a: 1 }, []],
      [{}, { a: 1, b: 2, c: 3 }],
    ],
    ["dependentRequired", { dependentRequired: { a: ["b"] } }, [{}, { b: 1 }, { a: 1, b: 1 }], [{ a: 1 }]],
    [
      "dependentSchemas",
      { dependentSchemas: { a: { properties: { b: { type: "number" } } } } },
      [{ b: "x" }, { a: 1, b: 2 }],
      [{ a: 1, b: "x" }],
    ],
    [
      "a reference to any place of the schema",
      { properties: { "a/b": { type: "string" }, c: { $ref: "#/properties/a~1b" } } },
      [{ c: "x" }],
      [{ c: 1 }],
    ],
    ["false", { properties: { a: false } }, [{}], [{ a: 1 }]],
    ["reference", { $ref: "#/$defs/name", $defs: { name: { type: "string" } } }, ["a"], [1]],
  ])("%s", (_, schema, good, bad) => {
    for (const value of good) expect([value, problems(schema, value)]).toEqual([value, []]);
    for (const value of bad) expect(problems(schema, value)).not.toEqual([]);
  });

  test("a tree that refers to itself is checked to its leaves", () => {
    const schema: Json = {
      $ref: "#/$defs/node",
      $defs: {
        node: {
          type: "object",
          properties: {
            name: { type: "string" },
            children: { type: "array", items: { $ref: "#/$defs/node" } },
          },
          required: ["name"],
        },
      },
    };
    expect(problems(schema, { name: "a", children: [{ name: "b", children: [] }] })).toEqual([]);
    expect(problems(schema, { name: "a", children: [{ name: "b", children: [{ name: 1 }] }] })).toEqual([
      "/children/0/children/0/name must be a string, but is a number",
    ]);
  });

  test("the message names the place and the problem so that a model can correct it", () => {
    const schema: Json = {
      type: "object",
      required: ["title", "count"],
      additionalProperties: false,
      properties: {
        title: { type: "string", minLength: 3 },
        count: { type: "integer", maximum: 9 },
        "a/b": { enum: ["x", "y"] },
        tags: { type: "array", items: { type: "string" }, maxItems: 1 },
      },
    };
    expect(problems(schema, { titel: "x", count: 10, "a/b": "z", tags: [1, 2] })).toEqual([
      'the value must have "title"',
      '/titel is not expected; did you mean "title"?',
      "/count must be at most 9, but is 10",
      '/a~1b must be one of "x", "y"',
      "/tags must have at most 1 items, but has 2",
      "/tags/0 must be a string, but is a number",
      "/tags/1 must be a string, but is a number",
    ]);
    expect(problems(schema, [])).toEqual(["the value must be an object, but is an array"]);
    expect(problems({ anyOf: [{ type: "string" }, { type: "object", required: ["a"] }] }, {})).toEqual([
      "the value fits none of the 2 forms it may have; the nearest says:",
      expect.stringContaining("must"),
    ]);
  });

  test("members that objects inherit do not count as there", () => {
    expect(problems({ required: ["toString", "__proto__"] }, {})).toHaveLength(2);
    expect(
      problems(
        { properties: { a: {} }, additionalProperties: false },
        JSON.parse('{"__proto__": 1}') as Json,
      ),
    ).toHaveLength(1);
  });
});

describe("a validation that would take too long fails", () => {
  test("a pattern that runs away is interrupted", () => {
    const from = performance.now();
    const long = Array.from({ length: 1000 }, () => `${"a".repeat(40)}b`);
    expect(problems({ items: { pattern: "^(a+)+$" } }, long)).toEqual([
      "/0 cannot be matched with ^(a+)+$ within 1000 ms",
    ]);
    expect(performance.now() - from).toBeLessThan(50_000);
    expect(problems({ pattern: "^(a+)+$" }, "aaaa")).toEqual([]);
  });

  test("forms within forms are given up after a bounded number of steps", () => {
    const $defs: Record<string, Json> = { last: { type: "string" } };
    for (let level = 0; level < 60; level += 1) {
      const next = level === 0 ? "last" : `l${level - 1}`;
      $defs[`l${level}`] = { anyOf: [{ $ref: `#/$defs/${next}` }, { $ref: `#/$defs/${next}` }] };
    }
    expect(problems({ $ref: "#/$defs/l59", $defs }, 1)).toEqual([
      expect.stringContaining("too large or too deeply nested"),
    ]);
  });

  test("a value nested without end, or with a million wrong items, gives a few problems", () => {
    let deep: Json = 1;
    for (let level = 0; level < 5000; level += 1) deep = [deep];
    expect(
      problems({ $ref: "#/$defs/list", $defs: { list: { items: { $ref: "#/$defs/list" } } } }, deep),
    ).toHaveLength(1);
    expect(problems({ items: { type: "string" } }, Array<number>(1_000_000).fill(1))).toHaveLength(20);
  });
});

describe("a schema that we would not check fully is refused when it is defined", () => {
  test.each<[Json, string]>([
    [{ type: "strin" }, "/type must be one or several of string"],
    [{ requierd: ["a"] }, '/requierd is not a keyword that is supported; did you mean "required"?'],
    [{ unevaluatedProperties: false }, "/unevaluatedProperties is not a keyword that is supported"],
    [{ properties: { a: { $anchor: "b" } } }, "/properties/a/$anchor is not a keyword"],
    [{ properties: { a: { $id: "b" } } }, "/properties/a/$id is supported at the top only"],
    [{ multipleOf: 0 }, "/multipleOf must be a number greater than 0"],
    [{ patternProperties: { "(": {} } }, "/patternProperties/( must be a regular expression"],
    [{ dependentRequired: { a: "b" } }, "/dependentRequired must be an object of lists of names"],
    [{ $ref: "#/$defs/none" }, "/$ref must point to a schema within this one"],
    [{ $ref: "https://example.com/schema" }, "/$ref must point to a schema within this one"],
    [{ $ref: "#/$defs/__proto__", $defs: {} }, "/$ref must point to a schema"],
    [{ pattern: "(" }, "/pattern must be a regular expression"],
    [{ pattern: "a".repeat(501) }, "/pattern must have at most 500 characters"],
    [{ minLength: -1 }, "/minLength must be a whole number from 0 on"],
    [{ anyOf: [] }, "/anyOf must be a list of schemas"],
    [{ properties: [] }, "/properties must be an object of schemas"],
    [{ items: [{}] }, "/items must be a schema"],
    [{ required: "a" }, "/required must be a list of names"],
    ["string", "the value must be a schema"],
    [{ $ref: "#" }, "refers to itself without end"],
    [
      {
        properties: { a: { $ref: "#/$defs/a" } },
        $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { $ref: "#/$defs/a" } },
      },
      "refers to itself without end",
    ],
  ])("%j", (schema, message) => {
    expect(checkSchema(schema).map(showProblem)).toEqual([expect.stringContaining(message)]);
  });

  test("remarks are allowed, and so is all that zod writes for common types", () => {
    const written: Json = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      title: "t",
      description: "d",
      properties: {
        mail: { type: "string", format: "email", pattern: "^.+@.+$" },
        n: { type: "integer", minimum: -9, maximum: 9, default: 1 },
        map: { type: "object", propertyNames: { type: "string" }, additionalProperties: { type: "number" } },
      },
      required: ["mail"],
      additionalProperties: false,
    };
    expect(checkSchema(written)).toEqual([]);
  });

  test("a schema nested without end is refused and not walked to its end", () => {
    let deep: Json = { type: "string" };
    for (let level = 0; level < 5000; level += 1) deep = { items: deep };
    expect(checkSchema(deep)).toHaveLength(1);
  });
});
