import { describe, expect, test } from "vitest";
import { countedTests } from "../../../src/domain/test-report.ts";
import { readTests } from "../../../src/run/failure/read-tests.ts";
import { fixtureNames, outputOf } from "./fixtures.ts";

const runners = ["vitest", "jest", "node-test", "mocha", "tap", "pytest", "go", "cargo", "junit"];

/** "passed/failed/skipped", and whether every test is named. */
const counts: Readonly<Record<string, string | undefined>> = {
  "cargo/broken": undefined,
  "cargo/text": "3/1/1 named",
  "go/broken": undefined,
  "go/json": "3/2/1 named",
  "go/text": undefined,
  "go/verbose": "3/2/1 named",
  "jest/no-tests": "0/0/0",
  "jest/text": "1/3/0",
  "jest/text-color": "1/3/0",
  "jest/text-pass": "1/0/0 named",
  "jest/verbose": "4/1/2 named",
  "junit/node": "4/1/2 named",
  "mocha/no-tests": "0/0/0 named",
  "mocha/pass": "1/0/0 named",
  "mocha/text": "4/1/2 named",
  "node-test/empty": "0/0/0 named",
  "node-test/nested-spec": "5/1/2 named",
  "node-test/nested-tap": "5/1/2 named",
  "node-test/no-files": "0/0/0 named",
  "node-test/spec": "1/3/1 named",
  "node-test/spec-import": "0/1/0 named",
  "node-test/spec-pass": "1/0/0 named",
  "node-test/spec-syntax": "0/1/0 named",
  "node-test/tap": "1/3/1 named",
  "node-test/tap-import": "0/1/0 named",
  "node-test/tap-pass": "1/0/0 named",
  "node-test/tap-syntax": "0/1/0 named",
  "pytest/collection": "0/3/0",
  "pytest/no-tests": "0/0/0 named",
  "pytest/text": "1/4/1",
  "pytest/text-color": "0/1/0 named",
  "pytest/text-line": "1/4/1",
  "pytest/text-pass": "1/0/0",
  "pytest/text-short": "1/4/1",
  "pytest/verbose": "1/4/1 named",
  "tap/tap": "1/1/1 named",
  "tap/tap-base": "1/1/1",
  "tap/tap-empty": "0/0/1",
  "tap/tape": "2/1/1 named",
  "tap/tape-pass": "0/0/0 named",
  "tap/vitest": "4/1/2 named",
  "vitest/empty": "0/0/0 named",
  "vitest/nested": "4/1/2",
  "vitest/no-tests": "0/0/0",
  "vitest/text": "1/3/0 named",
  "vitest/text-color": "1/3/0 named",
  "vitest/text-pass": "1/0/0",
  "vitest/unhandled": "1/0/0",
  "vitest/verbose": "4/1/2 named",
};

describe("the tests in the real output of a runner are counted", () => {
  test.each(fixtureNames(...runners))("%s", (name) => {
    const report = readTests(outputOf(name));
    const { passed, failed, skipped, names } = report ?? {};
    const shown = report && `${passed}/${failed}/${skipped}${names === undefined ? "" : " named"}`;
    expect(Object.keys(counts)).toContain(name);
    expect(shown).toBe(counts[name]);
  });
});

test.each(fixtureNames("tsc", "eslint", "npm", "python", "node", "plain"))(
  "a tool that runs no tests has no number of tests: %s",
  (name) => {
    expect(readTests(outputOf(name))).toBeUndefined();
  },
);

test("a test is named by its file where the runner says it, and by its suites", () => {
  const named = (name: string) => readTests(outputOf(name))?.names;
  expect(named("vitest/verbose")).toEqual({
    passed: [
      "test/cart.test.js > cart > is empty at first",
      "test/cart.test.js > cart > inner > works",
      "test/cart.test.js > root",
      "test/fine.test.js > fine",
    ],
    failed: ["test/cart.test.js > cart > adds"],
  });
  expect(named("jest/verbose")?.failed).toEqual(["test/cart.test.js > cart > adds"]);
  expect(named("mocha/text")?.passed).toContain("cart > inner > 1) works");
  expect(named("tap/tape")).toEqual({
    passed: ["adds > one and one", "inner > should be truthy"],
    failed: ["adds > one and two"],
  });
  expect(named("go/verbose")?.failed).toEqual([
    "example.org/shop/cart TestAdd",
    "example.org/shop/cart TestTable/one",
  ]);
  expect(named("pytest/verbose")?.passed).toEqual(["test_cart.py::TestCart::test_price[1]"]);
});

test("both reporters of node:test give the same names, and a suite with a failed test has not failed itself", () => {
  const expected = {
    passed: [
      "cart > inner > works",
      "cart > inner",
      "cart > is empty at first",
      "cart",
      "root > one",
      "root > two",
      "root",
    ].sort(),
    failed: ["cart > adds"],
  };
  for (const name of ["node-test/nested-spec", "node-test/nested-tap"]) {
    const names = readTests(outputOf(name))?.names;
    expect({ passed: names?.passed.toSorted(), failed: names?.failed }).toEqual(expected);
  }
});

test("a file of node:test without a test is no test that passed", () => {
  expect(readTests(outputOf("node-test/empty"))).toMatchObject({ passed: 0, failed: 0 });
});

test("a command that runs several runners has the tests of all of them", () => {
  const [spec, pytest] = [outputOf("node-test/spec-pass"), outputOf("pytest/text")];
  const both = { stdout: `${spec.stdout}\n${pytest.stdout}\n${spec.stdout}`, stderr: "", exitCode: 1 };
  // pytest without -v does not name its tests, so not all of them are named.
  expect(readTests(both)).toEqual({ passed: 3, failed: 4, skipped: 1 });
  const twice = { stdout: `${spec.stdout}\n${spec.stdout}`, stderr: "", exitCode: 0 };
  expect(readTests(twice)?.names).toEqual({ passed: ["holds", "holds"], failed: [] });
});

test("cargo nextest names a test once, although it prints a failed one twice", () => {
  // After its documentation: it was not installed where the other outputs were captured.
  const stderr = [
    "        PASS [   0.004s] (1/3) cart tests::works",
    "        FAIL [   0.005s] (2/3) cart tests::fails",
    "        PASS [   0.009s] (3/3) cart::whole works",
    "────────────",
    "     Summary [   0.011s] 3 tests run: 2 passed, 1 failed, 1 skipped",
    "        FAIL [   0.005s] (2/3) cart tests::fails",
  ].join("\n");
  expect(readTests({ stdout: "", stderr, exitCode: 100 })).toEqual({
    passed: 2,
    failed: 1,
    skipped: 1,
    names: { passed: ["cart tests::works", "cart::whole works"], failed: ["cart tests::fails"] },
  });
});

const shownIn = (stdout: string, exitCode = 0) => {
  const report = readTests({ stdout, stderr: "", exitCode });
  return report && `${report.passed}/${report.failed}/${report.skipped}`;
};

test("node-tap 16 says its sums in other words than later versions", () => {
  const zero = "\u200B";
  const empty = `Suites:   ${zero}1 skip${zero}, ${zero}1 of 1 completed${zero}\nAsserts:  ${zero}0 ${zero}of 0${zero}\n`;
  const some = `Asserts:  ${zero}1 failed${zero}, ${zero}1 passed${zero}, ${zero}1 skip${zero}, ${zero}of 3${zero}\n`;
  expect([shownIn(empty), shownIn(empty + some)]).toEqual(["0/0/0", "1/1/1"]);
});

// After the documentation of Surefire and JUnit: its packages were not to be had where the outputs were captured.
const surefire = (...sums: readonly string[]) =>
  sums.map(
    (one) => `[INFO] Running a.ATest\n[INFO] ${one}, Time elapsed: 0.01 s - in a.ATest\n\n[INFO] ${one}\n`,
  );

test.each([
  [
    "Maven, for all its modules",
    surefire(
      "Tests run: 3, Failures: 1, Errors: 1, Skipped: 0",
      "Tests run: 2, Failures: 0, Errors: 0, Skipped: 1",
    ),
    "2/2/1",
  ],
  ["Maven without a test", surefire("Tests run: 0, Failures: 0, Errors: 0, Skipped: 0"), "0/0/0"],
  ["Maven without a test class", ["[INFO] No tests to run."], "0/0/0"],
  [
    "Maven whose sums are left out",
    ["Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 sec"],
    "1/1/0",
  ],
  ["JUnit 4 in a terminal", ["Time: 0.005", "Tests run: 3,  Failures: 1"], "2/1/0"],
  ["JUnit 4 in a terminal, when all pass", ["Time: 0.005", "", "OK (3 tests)"], "3/0/0"],
  [
    "a JUnit report without a test",
    ['<testsuites><testsuite name="a" tests="0"></testsuite></testsuites>'],
    "0/0/0",
  ],
  ["a JUnit report without a suite", ["<testsuites></testsuites>"], "0/0/0"],
  [
    "a JUnit report that lost its tests",
    ['<testsuites tests="3"><testsuite tests="3"></testsuite>'],
    undefined,
  ],
  ["vitest without its header", ["No test files found, exiting with code 0"], "0/0/0"],
  ["go without a test file", ["?   \texample.org/none\t[no test files]"], "0/0/0"],
  ["go without a matching test", ["ok  \texample.org/price\t0.002s [no tests to run]"], "0/0/0"],
  ["go without -v, which does not say how many", ["ok  \texample.org/price\t0.002s"], undefined],
] as const)("the tests are counted of %s", (_, lines, counted) => {
  expect(shownIn(lines.join("\n"))).toBe(counted);
});

test("sums stay true when the middle of an output is left out, and names are not guessed", () => {
  const { stdout } = outputOf("node-test/nested-spec");
  const lines = stdout.split("\n");
  const cut = [...lines.slice(0, 2), "[... 100 bytes left out ...]", ...lines.slice(4)].join("\n");
  expect(readTests({ stdout: cut, stderr: "", exitCode: 1 })).toEqual({ passed: 5, failed: 1, skipped: 2 });
});

test("counts read as a sentence", () => {
  expect(countedTests({ passed: 150, failed: 3, skipped: 0 })).toBe("3 of 153 tests fail");
  expect(countedTests({ passed: 1, failed: 0, skipped: 2 })).toBe("1 test passes, 2 skipped");
  expect(countedTests({ passed: 0, failed: 0, skipped: 0 })).toBe("no tests ran");
});
