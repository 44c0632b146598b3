import { expect, test } from "vitest";
import {
  boundFailures,
  createFailure,
  deduplicate,
  failureCategories,
  failureTable,
  maxFailures,
} from "../../../src/domain/failure.ts";

const failure = (message: string, more: object = {}) =>
  createFailure({ category: "TYPE", message, source: "tsc", ...more });

test("every category has a severity, a meaning and a fix that a person can follow", () => {
  expect(Object.keys(failureTable).sort()).toEqual([...failureCategories].sort());
  for (const { meaning, suggestedFix } of Object.values(failureTable)) {
    expect(meaning.length).toBeGreaterThan(10);
    expect(suggestedFix).toMatch(/^[A-Z].+\.$/);
  }
});

test("only what a person must mend is marked as not worth another try", () => {
  const final = failureCategories.filter((category) => !failureTable[category].recoverable);
  expect(final).toEqual(["AUTH", "BUDGET", "GOVERNANCE"]);
});

test("a failure's message is one short line and its details are bounded, whatever a tool prints", () => {
  const long = failure(`first\n\tsecond   third ${"x".repeat(100_000)}`, { details: "y".repeat(100_000) });
  expect(long.message).toMatch(/^first second third x+…$/);
  expect(long.message).toHaveLength(500);
  expect(long.details).toHaveLength(4000);
});

test("a failure never carries a secret, also not one that the cut would halve", () => {
  const key = `sk-proj-${"a1".repeat(400)}`;
  const { message, details } = failure(`${"x".repeat(480)} ${key}`, {
    details: `${"y ".repeat(1990)}${key}`,
  });
  expect(message).not.toContain("sk-");
  expect(details).not.toContain("sk-");
});

test("a place that is no place is left out", () => {
  const odd = failure("x", { file: "", line: 0, column: Number.NaN, code: "" });
  expect(Object.keys(odd).sort()).toEqual(
    ["category", "severity", "message", "source", "recoverable", "outage", "suggestedFix"].sort(),
  );
});

test("failures that differ only in numbers and addresses are told once, in their first order", () => {
  const told = deduplicate([
    failure("timed out after 50 ms at 0x7f3c", { file: "a.ts", line: 1 }),
    failure("other"),
    failure("timed out after 73 ms at 0x11ab", { file: "a.ts", line: 1 }),
    failure("timed out after 50 ms at 0x7f3c", { file: "a.ts", line: 2 }),
    failure("timed out after 50 ms at 0x7f3c", { file: "a.ts", line: 1, code: "X" }),
  ]);
  expect(told.map(({ message, line, code }) => [message.slice(0, 5), line, code])).toEqual([
    ["timed", 1, undefined],
    ["other", undefined, undefined],
    ["timed", 2, undefined],
    ["timed", 1, "X"],
  ]);
});

test("at most 50 failures are told, and the last says how many more there were", () => {
  const many = Array.from({ length: 120 }, (_, index) =>
    createFailure({ category: index < 100 ? "TYPE" : "IMPORT", message: `${index}`, source: "tsc" }),
  );
  const told = boundFailures(many);
  expect(told).toHaveLength(maxFailures);
  expect(told.slice(0, -1)).toEqual(many.slice(0, maxFailures - 1));
  expect(told.at(-1)).toMatchObject({ message: "71 more failures: 51 TYPE, 20 IMPORT", source: "summary" });
  expect(boundFailures(many.slice(0, maxFailures))).toEqual(many.slice(0, maxFailures));
});
