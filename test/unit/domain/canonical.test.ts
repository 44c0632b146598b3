import { expect, test } from "vitest";
import { canonicalJson, fingerprint, sha256 } from "../../../src/domain/canonical.ts";
import { isJsonObject, type Json, parseJson } from "../../../src/domain/json.ts";
import { newSeed, randomJson, seededRandom } from "./seeded-random.ts";

const shuffled = (value: Json, random: () => number): Json => {
  if (Array.isArray(value)) return value.map((item: Json) => shuffled(item, random));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(
    ([key, member]) => [key, shuffled(member, random), random()] as const,
  );
  return Object.fromEntries(entries.sort((a, b) => a[2] - b[2]).map(([key, member]) => [key, member]));
};

test("equal values have one text whatever the order of their keys, and it reads back as the value", () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  for (let count = 0; count < 2000; count += 1) {
    const value = randomJson(random);
    const text = canonicalJson(value);
    expect(canonicalJson(shuffled(value, random)), `seed ${seed}`).toBe(text);
    expect(canonicalJson(parseJson(text)), `seed ${seed}`).toBe(text);
    expect(parseJson(text), `seed ${seed}`).toEqual(parseJson(JSON.stringify(value)));
  }
});

test("keys are sorted by code unit and nothing is added", () => {
  const value = { b: 1, a: [1, { z: null, "\u{1f600}": 1, "\uffff": 2 }], "10": 1, "9": 2, B: "é" };
  expect(canonicalJson(value)).toBe(
    '{"10":1,"9":2,"B":"é","a":[1,{"z":null,"\u{1f600}":1,"\uffff":2}],"b":1}',
  );
});

test("odd members are written plainly", () => {
  expect(canonicalJson(parseJson('{"__proto__":{"a":1},"A":-0}'))).toBe('{"A":0,"__proto__":{"a":1}}');
  expect(canonicalJson({ a: undefined, b: "\ud800" } as unknown as Json)).toBe('{"b":"\\ud800"}');
  const sparse: Json[] = [];
  sparse[2] = 1;
  expect(canonicalJson(sparse)).toBe("[null,null,1]");
  expect(canonicalJson({ when: new Date(0) } as unknown as Json)).toBe('{"when":"1970-01-01T00:00:00.000Z"}');
});

test("a value without a faithful text is refused", () => {
  const ring: Json[] = [];
  ring.push(ring);
  const wrong: unknown[] = [Number.NaN, Number.POSITIVE_INFINITY, 1n, () => 1, { a: Symbol("s") }, ring];
  wrong.push(new Map([[1, 2]]), new Set([1]), Promise.resolve(1), new Error("e"), /r/);
  for (const value of wrong)
    expect(() => canonicalJson([{ value }] as unknown as Json)).toThrow("cannot hold");
});

test("a fingerprint is half of the hash of the canonical text", () => {
  expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(sha256(new TextEncoder().encode("abc"))).toBe(sha256("abc"));
  expect(fingerprint({ b: 1, a: 2 })).toBe(sha256('{"a":2,"b":1}').slice(0, 32));
});
