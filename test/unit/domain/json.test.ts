import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { InputInvalid } from "../../../src/domain/errors.ts";
import { type Json, jsonLimits, parseJson, toJsonText } from "../../../src/domain/json.ts";
import { JsonReader } from "../../../src/domain/json-reader.ts";
import { newSeed, randomJson, seededRandom } from "./seeded-random.ts";

function refusal(act: () => unknown): InputInvalid {
  try {
    act();
  } catch (error) {
    if (error instanceof InputInvalid) return error;
    throw error;
  }
  return expect.fail("was not refused");
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

test("text as deep as the limit is read, deeper text is refused before it is parsed", () => {
  expect(() => parseJson(nested(200))).not.toThrow();
  for (const text of [nested(201), nested(10_000), "[".repeat(10_000_000), '{"a":'.repeat(10_000)]) {
    const error = refusal(() => parseJson(text, { what: "the brief" }));
    expect(error.message).toBe("the brief is nested deeper than the limit of 200 levels");
    expect(error.details.reason).toBe("too deep");
    expect(error.advice).toBeDefined();
  }
});

test("brackets in strings are not depth", () => {
  const value = ["[".repeat(500), '\\"{{{'.repeat(500), { '[{"': "]" }];
  expect(parseJson(JSON.stringify(value))).toEqual(value);
  expect(toJsonText(value)).toBe(JSON.stringify(value));
});

test("text over the size limit is refused, counted in bytes", () => {
  expect(refusal(() => parseJson(new Uint8Array(2 ** 30))).details.reason).toBe("too large");
  expect(refusal(() => parseJson(`"${"x".repeat(jsonLimits.maxBytes)}"`)).message).toContain(
    "33554432 bytes",
  );
  expect(parseJson('"éé"', { maxBytes: 6 })).toBe("éé");
  expect(refusal(() => parseJson('"ééé"', { maxBytes: 7 })).details.reason).toBe("too large");
});

test("bytes that are not UTF-8 are refused", () => {
  expect(parseJson(Buffer.from('{"a":"é"}'))).toEqual({ a: "é" });
  expect(refusal(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).details.reason).toBe("not UTF-8");
  expect(refusal(() => parseJson(Buffer.from([0xef, 0xbb, 0xbf, 0x31]))).details.reason).toBe("not JSON");
});

test.each([
  ["", 1, 1, "end of the text"],
  ['{\n  "a": 1,\n}', 3, 1, '"}"'],
  ["[1,\n 2 3]", 2, 4, '"3"'],
  ["{a: 1}", 1, 2, '"a"'],
  ['"a\nb"', 1, 3, '"\\n"'],
  ['["\\x"]', 1, 3, '"\\\\"'],
  ["[01]", 1, 3, '"1"'],
  ["nul", 1, 1, '"n"'],
  ["1 2", 1, 3, '"2"'],
  ['{"a" 1}', 1, 6, '"1"'],
  ['{"a":[1', 1, 8, "end of the text"],
])("a syntax error in %j is found at line %i, column %i", (text, line, column, found) => {
  const error = refusal(() => parseJson(text, { what: "team.json" }));
  expect(error.message).toBe(
    `team.json is not valid JSON: line ${line}, column ${column}: unexpected ${found}`,
  );
  expect(error.details).toMatchObject({ line, column });
});

test("the reader that finds the place accepts exactly what JSON.parse accepts", () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  const differences: string[] = [];
  for (let count = 0; count < 5000; count += 1) {
    const text = JSON.stringify(randomJson(random));
    const at = Math.floor(random() * text.length);
    const damage = ["", ",", "]", "}", '"', "\\", "0", "\t", ":", "-", "e"][Math.floor(random() * 11)];
    const damaged = text.slice(0, at) + damage + text.slice(at + 1);
    if ((new JsonReader(damaged).read() !== undefined) !== isJson(damaged)) differences.push(damaged);
  }
  expect(differences, `seed ${seed}`).toEqual([]);
});

test("the reader reads what JSON.parse reads", () => {
  const text = '[0,-0,1.5e-7,1e400,123456789012345678901,true,false,null,"\\u00e9\\n",{"a":1,"b":{},"a":[]}]';
  expect(new JsonReader(text).read()).toEqual(JSON.parse(text));
});

test("an escaped key is never taken for another one", () => {
  // The first text of each pair makes V8's JSON.parse misread the second (nodejs/node#63785).
  const pairs = [
    ['{"a":1,"\\\\":2}', '{"a":1,"\\n":2}', "\n"],
    ['{"b":1,"x\\\\":2}', '{"b":1,"x\\"" :2}', 'x"'],
    ['{"c":1,"\\\\":2}', '{"c":1,"\\u0041"\n:2}', "A"],
    ['{"d":1,"\\\\na":2}', '{"d":1,"\\nab":2}', "\nab"],
  ] as const;
  for (const [poison, text, key] of pairs) {
    parseJson(poison);
    JSON.parse(poison);
    expect(Object.keys(parseJson(text) as object)[1]).toBe(key);
  }
});

test("a key __proto__ is data unless the caller refuses it, in any spelling", () => {
  const plain = parseJson('{"__proto__":{"admin":true}}') as Record<string, unknown>;
  expect(Object.keys(plain)).toEqual(["__proto__"]);
  expect(plain.admin).toBeUndefined();
  for (const text of ['{"__proto__":1}', '[{"a":{"\\u005f_proto__":1}}]']) {
    expect(refusal(() => parseJson(text, { refuseProto: true })).details.reason).toBe("key __proto__");
  }
  expect(parseJson('{"a":"__proto__","b":"\\u0041"}', { refuseProto: true })).toEqual({
    a: "__proto__",
    b: "A",
  });
});

test("a value is written as JSON.stringify writes it, undefined as null", () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  for (let count = 0; count < 500; count += 1) {
    const value: Json = randomJson(random);
    expect(toJsonText(value), `seed ${seed}`).toBe(JSON.stringify(value));
  }
  expect(toJsonText(undefined)).toBe("null");
  expect(toJsonText({ a: undefined, b: new Date(0), c: () => 1 })).toBe('{"b":"1970-01-01T00:00:00.000Z"}');
});

test("a member is written within the same limits and with the same errors as a whole value", () => {
  const member = "result";
  expect(toJsonText([1, "two"], { member })).toBe('{"result":[1,"two"]}');
  expect(toJsonText(undefined, { member })).toBe("{}");
  expect(toJsonText("x".repeat(100), { member, maxBytes: 102 })).toHaveLength(113);
  expect(refusal(() => toJsonText("x".repeat(100), { member, maxBytes: 101 })).details.reason).toBe(
    "too large",
  );
  expect(toJsonText([[1]], { member, maxDepth: 2 })).toBe('{"result":[[1]]}');
  expect(refusal(() => toJsonText([[[1]]], { member, maxDepth: 2 })).details.reason).toBe("too deep");
  expect(refusal(() => toJsonText({ n: 1n }, { member, what: "it" })).message).toContain("it.n is a BigInt");
  expect(refusal(() => toJsonText(() => 1, { member, what: "it" })).message).toContain("it is a function");
});

test("a value that JSON cannot hold is refused with its path", () => {
  const ring: Record<string, unknown> = {};
  ring.rows = [1, { "a b": ring }];
  expect(refusal(() => toJsonText(ring, { what: "result" })).message).toBe(
    'result.rows[1]["a b"] contains itself, which JSON cannot hold',
  );
  expect(refusal(() => toJsonText({ rows: [0, { n: 1n }] }, { what: "result" })).message).toContain(
    "result.rows[1].n is a BigInt",
  );
  expect(refusal(() => toJsonText(() => 1, { what: "result" })).message).toContain("result is a function");
  expect(refusal(() => toJsonText(Symbol("s"))).message).toContain("value is a symbol");
  const throwing = {
    toJSON() {
      throw new Error("inner");
    },
  };
  const unwritable = refusal(() => toJsonText(throwing, { what: "it" }));
  expect(unwritable.message).toBe("it cannot be written as JSON: inner");
  expect(unwritable.details.reason).toBe("unwritable");
  expect(unwritable.cause).toMatchObject({ message: "inner" });
});

class Registry extends Map<string, number> {
  readonly label = "it has a field of its own";
}

test.each([
  ["a Map", { rows: [{}, new Map([["a", 1]])] }, "result.rows[1] is a Map"],
  ["a Map alone", new Map(), "result is a Map"],
  ["a Map with a field", [new Registry()], "result[0] is a Map"],
  ["a Map of another realm", { m: runInNewContext("new Map()") as unknown }, "result.m is a Map"],
  ["a Set", { a: { "b c": new Set([1]) } }, 'result.a["b c"] is a Set'],
  ["a Promise", { a: Promise.resolve(1) }, "result.a is a Promise"],
  ["an Error", [{ status: "rejected", reason: new TypeError("t") }], "result[0].reason is an Error"],
  ["a RegExp", { r: /r/ }, "result.r is a RegExp"],
  ["a Map from toJSON", { a: { toJSON: () => new Map() } }, "result.a is a Map"],
  ["a Set below toJSON", { toJSON: () => ({ rows: [new Set([1])] }) }, "result.rows[0] is a Set"],
  [
    "a Promise from toJSON within toJSON",
    { toJSON: () => [{ toJSON: () => ({ a: Promise.resolve(1) }) }] },
    "result[0].a is a Promise",
  ],
])("%s, of which JSON keeps nothing, is refused", (_, value, why) => {
  const error = refusal(() => toJsonText(value, { what: "result" }));
  expect(error.message).toBe(`${why}, which JSON cannot hold`);
  expect(error.details.reason).toBe("not a JSON value");
  expect(() => toJsonText(value, { what: "result", member: "m" })).toThrow(why);
});

test("plain objects, instances and collections that say how they are written are taken", () => {
  class Bag extends Set<number> {
    toJSON() {
      return [...this];
    }
  }
  class Point {
    readonly x = 1;
  }
  const value = { a: {}, bag: new Bag([1]), text: "{}", point: new Point(), date: new Date(0), none: null };
  expect(toJsonText(value)).toBe(JSON.stringify(value));
  expect(toJsonText(Object.create(null))).toBe("{}");
  const byKey = { toJSON: (key: string) => (key === "m" ? 1 : [1n]) };
  expect(toJsonText(byKey, { member: "m" })).toBe('{"m":1}');
});

test("values over the limits are refused", () => {
  let deep: unknown = 1;
  for (let level = 0; level < 201; level += 1) deep = { a: deep };
  const error = refusal(() => toJsonText({ deep }, { what: "result" }));
  expect(error.message).toMatch(/^result\.deep\.a.* is nested deeper than the limit of 200 levels$/);
  for (let level = 0; level < 50_000; level += 1) deep = [deep];
  expect(refusal(() => toJsonText(deep)).details.reason).toBe("too deep");
  expect(refusal(() => toJsonText("x".repeat(100), { maxBytes: 101 })).details.reason).toBe("too large");
  expect(toJsonText("x".repeat(100), { maxBytes: 102 })).toHaveLength(102);
});
