import { describe, expect, test } from "vitest";
import { type CheckRun, judgeRun } from "../../../src/domain/check-verdict.ts";
import type { TestReport } from "../../../src/domain/test-report.ts";

const named = (passed: readonly string[], failed: readonly string[] = []): TestReport => ({
  passed: passed.length,
  failed: failed.length,
  skipped: 0,
  names: { passed, failed },
});
const counted = (passed: number, failed: number, skipped = 0): TestReport => ({ passed, failed, skipped });
const run = (exitCode: number | null, tests?: TestReport): CheckRun => ({ exitCode, tests });

describe("must: true and must: false ask for exit code 0", () => {
  test.each([true, false])("must: %s", (must) => {
    expect(judgeRun({ must }, run(0))).toEqual({ passed: true });
    expect(judgeRun({ must }, run(1))).toEqual({ passed: false });
    expect(judgeRun({ must }, run(null))).toEqual({ passed: false });
    // A base that failed as well excuses nothing.
    expect(judgeRun({ must }, run(1), run(1))).toEqual({ passed: false });
  });
});

describe("a check that tested nothing does not pass", () => {
  test.each([
    ["no tests at all", counted(0, 0), undefined, "it ran no tests (minTests: 1)"],
    ["only skipped tests", counted(0, 0, 4), undefined, "it ran no tests, 4 were skipped (minTests: 1)"],
    ["fewer than it must run", counted(3, 0), 10, "it ran 3 tests, and at least 10 must run (minTests)"],
    [
      "an unknown number, where one is asked for",
      undefined,
      1,
      "it does not say how many tests it ran, and at least 1 must run (minTests)",
    ],
  ])("%s", (_, tests, minTests, why) => {
    const rule = { must: true, ...(minTests !== undefined && { minTests }) };
    expect(judgeRun(rule, run(0, tests))).toEqual({ passed: false, why });
  });

  test.each([
    ["one test", counted(1, 0), undefined],
    ["no test, where none is asked for", counted(0, 0), 0],
    ["a command that is no runner of tests", undefined, undefined],
    ["as many as it must run", counted(10, 0), 10],
  ])("%s passes", (_, tests, minTests) => {
    const rule = { must: true, ...(minTests !== undefined && { minTests }) };
    expect(judgeRun(rule, run(0, tests))).toEqual({ passed: true });
  });
});

test.each([true, false, "no-worse"] as const)(
  "a check that reported its tests before the session began must report them (must: %s)",
  (must) => {
    const why = "it no longer reports its tests; before the session began 1 of 3 tests fails";
    expect(judgeRun({ must }, run(0), run(1, counted(2, 1)))).toEqual({ passed: false, why });
    expect(judgeRun({ must }, run(0), run(0))).toEqual({ passed: true });
  },
);

describe("no-worse compares by name where both runs name their tests", () => {
  const rule = { must: "no-worse" } as const;
  const base = run(1, named(["a", "b", "b"], ["old"]));

  test("old failures do not count, and new tests may fail", () => {
    expect(judgeRun(rule, run(1, named(["a", "b", "b"], ["old"])), base)).toEqual({ passed: true });
    expect(judgeRun(rule, run(1, named(["b", "a", "b", "c"], ["old", "new"])), base)).toEqual({
      passed: true,
    });
    expect(judgeRun(rule, run(0, named(["a", "b", "b", "old"])), base)).toEqual({ passed: true });
  });

  test("a test that passed before and fails now is named", () => {
    expect(judgeRun(rule, run(1, named(["b", "b"], ["old", "a"])), base)).toEqual({
      passed: false,
      why: "1 test that passed before the session began fails now: a",
    });
  });

  test("a test that is missing now is named, also when the command ends with 0", () => {
    expect(judgeRun(rule, run(0, named(["a", "b"])), base)).toEqual({
      passed: false,
      why: "1 test that passed before the session began is missing now: b",
    });
    expect(judgeRun(rule, run(0, named(["x"])), base)).toEqual({
      passed: false,
      why: "2 tests that passed before the session began are missing now: a, b",
    });
  });

  test("both are told, and a long list is cut", () => {
    const many = Array.from({ length: 12 }, (_, index) => `t${index}`);
    const verdict = judgeRun(rule, run(1, named([], ["t0"])), run(0, named(many)));
    expect(verdict).toMatchObject({ why: expect.stringContaining("fails now: t0; 11 tests that passed") });
    expect(verdict).toMatchObject({ why: expect.stringMatching(/t10 and 1 more$/) });
  });
});

describe("no-worse compares by number where names are missing", () => {
  const rule = { must: "no-worse" } as const;
  test.each([
    ["the same", counted(150, 3), true],
    ["more that pass", counted(160, 3), true],
    ["fewer that fail", counted(153, 0), true],
    ["fewer that pass", counted(149, 3), false],
    ["more that fail", counted(160, 4), false],
    ["names on one side only", named(["a"]), false],
  ])("%s", (_, tests, passed) => {
    expect(judgeRun(rule, run(1, tests), run(1, counted(150, 3))).passed).toBe(passed);
  });
});

describe("no-worse compares exit codes if no reader knows the tests", () => {
  const rule = { must: "no-worse" } as const;
  test.each([
    [0, 0, true],
    [1, 0, false],
    [1, 1, true],
    [0, 1, true],
    [127, 1, false],
    [126, 1, false],
    [null, 1, false],
  ])("exit code %s after %s before: %s", (now, before, passed) => {
    expect(judgeRun(rule, run(now), run(before)).passed).toBe(passed);
  });

  test("tests that are no longer reported are missing", () => {
    expect(judgeRun(rule, run(1), run(1, counted(150, 3)))).toEqual({
      passed: false,
      why: "it no longer reports its tests; before the session began 3 of 153 tests fail",
    });
  });

  test("without a base it asks for a pass", () => {
    expect(judgeRun(rule, run(1)).passed).toBe(false);
    expect(judgeRun(rule, run(0)).passed).toBe(true);
  });
});
