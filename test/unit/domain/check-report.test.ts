import { expect, test } from "vitest";
import { checkReport, longestReport } from "../../../src/domain/check-report.ts";
import type { CheckResult } from "../../../src/domain/contract.ts";
import { createFailure } from "../../../src/domain/failure.ts";

const result: CheckResult = {
  kind: "command",
  name: "test",
  status: "failed",
  must: true,
  weight: 1,
  message: "npm ended with exit code 1: adds: expected 3, got -1",
  failures: [],
  tests: { passed: 150, failed: 3, skipped: 0 },
};

const failure = (message: string, details: string) =>
  createFailure({ category: "TEST_FAILURE", message, details, source: "tap", file: "src/sum.js", line: 4 });

test("a report has the counts, each failure with its place and details, and the end of the output", () => {
  const failures = [failure("adds", "expected: 3\nactual: -1")];
  expect(checkReport({ ...result, failures, ending: "# fail 3\nnpm error code 1" })).toBe(
    [
      "test: failed",
      "npm ended with exit code 1: adds: expected 3, got -1",
      "3 of 153 tests fail",
      "- TEST_FAILURE: adds (src/sum.js:4)",
      "expected: 3",
      "actual: -1",
      "The end of its output:",
      "# fail 3",
      "npm error code 1",
    ].join("\n"),
  );
});

test("a long report keeps the first failures whole, says how many it left out, and keeps the end of the output", () => {
  const failures = Array.from({ length: 40 }, (_, index) => failure(`test ${index}`, "x".repeat(2_000)));
  const ending = `${"line\n".repeat(5_000)}the last line`;
  const report = checkReport({ ...result, failures, ending });
  expect(report.length).toBeLessThanOrEqual(longestReport);
  expect(report).toContain("test 0 (src/sum.js:4)");
  expect(report).toMatch(/\[and 3\d more failures\]/);
  expect(report.endsWith("the last line")).toBe(true);
});

test("one failure that does not fit is cut, not left out", () => {
  const report = checkReport({ ...result, failures: [failure("adds", "y".repeat(100_000))], ending: "end" });
  expect(report).toContain("- TEST_FAILURE: adds");
  expect(report.length).toBeLessThanOrEqual(longestReport);
});
