import { describe, expect, test } from "vitest";
import { readOutput } from "../../../src/run/failure/read-output.ts";
import { expectations } from "./expectations.ts";
import { fixtureNames, outputOf, summary } from "./fixtures.ts";

const runners = ["vitest", "jest", "node-test", "mocha", "tap", "pytest", "go", "cargo", "junit"];
const tools = ["tsc", "eslint", ...runners, "npm", "python", "node", "plain"];

describe("the real output of a tool is understood", () => {
  test.each(fixtureNames(...tools))("%s", (name) => {
    expect(readOutput(outputOf(name)).map(summary)).toEqual(expectations[name]);
  });
});

test("every expectation has its captured output", () => {
  expect(Object.keys(expectations).sort()).toEqual(fixtureNames(...tools));
});

test.each(fixtureNames(...tools).filter((name) => outputOf(name).exitCode === 0))(
  "a passing run has no failures: %s",
  (name) => {
    expect(readOutput(outputOf(name))).toEqual([]);
  },
);

test("code that is wrong is worth another try, and no dependency is blamed for it", () => {
  const judged = [
    "tsc/types",
    "vitest/text",
    "pytest/text",
    "eslint/stylish",
    "node/syntax-esm",
    "python/module",
  ];
  for (const failure of judged.flatMap((name) => readOutput(outputOf(name)))) {
    expect(failure).toMatchObject({ recoverable: true, outage: false });
  }
});

test("a registry that is down is an outage, one that refuses us is for a person", () => {
  expect(readOutput(outputOf("npm/econnrefused"))[0]).toMatchObject({ outage: true, recoverable: true });
  expect(readOutput(outputOf("npm/e500"))[0]).toMatchObject({ outage: true, recoverable: true });
  expect(readOutput(outputOf("npm/e401"))[0]).toMatchObject({ outage: false, recoverable: false });
});

test("a message says what went wrong, in one line", () => {
  const messages = (name: string) => readOutput(outputOf(name)).map(({ message }) => message);
  expect(messages("tsc/types")[2]).toBe("Type 'string' is not assignable to type 'number'.");
  expect(messages("vitest/text")[3]).toBe("adds two numbers: expected -1 to be 3 // Object.is equality");
  expect(messages("node-test/spec")[0]).toBe(
    "adds two numbers: Expected values to be strictly equal: -1 !== 3",
  );
  expect(messages("jest/text")[1]).toContain("cart > reads the price (in cents) > 0: Cannot read properties");
  expect(messages("pytest/text")[3]).toBe("TestCart.test_type: 'NoneType' object is not iterable");
  expect(messages("tap/tape")).toEqual(["one and two: operator: equal, expected: 4, actual: 3"]);
  expect(messages("mocha/text")).toEqual(["cart > adds: 1 == 2"]);
  expect(messages("go/verbose")).toEqual(["TestAdd: Add(1, 2) = -1, want 3", "TestTable/one: wrong total"]);
  expect(messages("cargo/text")[0]).toContain("assertion `left == right` failed: sum left: 3 right: 4");
  expect(messages("npm/missing-script")).toEqual(['Missing script: "biuld"']);
  expect(messages("plain/exit-3")).toEqual(["sh ended with exit code 3: disk on fire"]);
});

test("the details of a test keep what the runner said about it", () => {
  expect(readOutput(outputOf("vitest/text"))[3]?.details).toContain("> expect(sum(1, 2)).toBe(3);".slice(2));
  expect(readOutput(outputOf("pytest/text"))[1]?.details).toContain("assert total([1, 2]) == 3");
});

test("a command that prints nothing still has a failure with its exit code", () => {
  expect(readOutput({ stdout: "", stderr: "", exitCode: 9 })).toMatchObject([
    { category: "UNKNOWN", message: "the command ended with exit code 9", code: "9" },
  ]);
});

test("a run that was killed or timed out keeps the failures it had found", () => {
  const { stdout, stderr } = outputOf("tsc/types");
  const categories = (exitCode: number | null) =>
    readOutput({ stdout, stderr, exitCode }).map(({ category }) => category);
  expect(categories(137).slice(0, 2)).toEqual(["RESOURCE", "IMPORT"]);
  expect(categories(null).slice(0, 2)).toEqual(["RESOURCE", "IMPORT"]);
  expect(categories(124).slice(0, 2)).toEqual(["TIMEOUT", "IMPORT"]);
});

test("one command that runs several tools gets the failures of all of them", () => {
  const [types, lint] = [outputOf("tsc/types"), outputOf("eslint/stylish")];
  const both = readOutput({ stdout: `${types.stdout}\n${lint.stdout}`, stderr: "", exitCode: 1 });
  expect(new Set(both.map(({ source }) => source))).toEqual(new Set(["tsc", "eslint"]));
});

test("lint warnings count only where nothing else explains the exit code", () => {
  const { stdout, stderr } = outputOf("eslint/warning");
  expect(readOutput({ stdout, stderr, exitCode: 1 })).toMatchObject([{ code: "semi", severity: "low" }]);
});
