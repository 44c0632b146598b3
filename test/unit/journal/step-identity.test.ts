import { expect, test } from "vitest";
import type { Json } from "../../../src/domain/json.ts";
import { StepIdentities } from "../../../src/journal/recorded-steps.ts";

const read = "0123456789abcdef0123456789abcdef";

test("a repeated step is the next occurrence, with any other steps in between", () => {
  const identities = new StepIdentities(read);
  const occurrences = ["fetch", "fetch", "other", "fetch", "two words", "fetch", "two words"].map(
    (name) => identities.next("function", name, null).occurrence,
  );
  expect(occurrences).toEqual([1, 2, 1, 3, 1, 4, 2]);
  expect(identities.next("wait", "fetch", null).occurrence).toBe(1);
  expect(new StepIdentities(read).next("function", "fetch", null).occurrence).toBe(1);
});

test("steps with another name, input or persona input never share a fingerprint", () => {
  const names = [
    "a",
    "a b",
    "a:b",
    ":a",
    "a step.function 2",
    '"a" ',
    "a\n1 a",
    "ключ",
    "a\u0000",
    `${read}:a`,
    "x".repeat(200),
  ];
  const inputs = [null, "", "a", 0, [], {}, { a: null }] as const;
  const found = [read, read.replace("0", "f"), "0".repeat(32)].flatMap((persona) =>
    names.flatMap((name) =>
      inputs.map((input) => new StepIdentities(persona).next("function", name, input).fingerprint),
    ),
  );
  expect(new Set(found).size).toBe(found.length);
  // Spaces stand between the columns that a row's hash covers.
  for (const fingerprint of found) expect(fingerprint).toMatch(/^[!-~]+$/);
});

test.each(["", "x".repeat(201), 5 as unknown as string])("an invalid name is refused: %j", (name) => {
  expect(() => new StepIdentities(read).next("function", name, null)).toThrow("1 to 200 characters");
});

test.each(["function", "model"] as const)(
  "an input that JSON would bend is refused: two would be one (%s)",
  (kind) => {
    const input = { rates: new Map([["eur", 1]]) } as unknown as Json;
    expect(() => new StepIdentities(read).next(kind, "total", input)).toThrow(
      'The input of step "total" is not JSON: canonical JSON cannot hold a Map.',
    );
  },
);
