import { describe, expect, test } from "vitest";
import { maxFailures } from "../../../src/domain/failure.ts";
import { redact } from "../../../src/domain/redact.ts";
import { readOutput } from "../../../src/run/failure/read-output.ts";
import { readTests } from "../../../src/run/failure/read-tests.ts";
import { processorMs } from "../../support/processor-time.ts";

const size = 5_000_000;
const fill = (text: string): string => text.repeat(Math.ceil(size / text.length)).slice(0, size);

/** Makes every reader believe that the output is its own. */
const bait = [
  "TAP version 13",
  "ℹ tests 1",
  "✖ failing tests:",
  " RUN  v5.1.0 /project",
  "Test Suites: 1 failed, 1 total",
  "=== FAILURES ===",
  "✖ 1 problem (1 error, 0 warnings)",
  "npm error code E404",
  "error TS",
  "",
].join("\n");

describe("5 MB of anything are read in under a second", () => {
  test.each([
    "a",
    "(",
    "[",
    "{",
    " ",
    "\n",
    "\u001b[",
    "a:1:",
    "(1,1): error TS",
    "____ a ____\nE   x\n",
    "not ok 1 - a\n---\nfailureType: 'subtestsFailed'\n",
    " FAIL  a > b\n",
    "FAIL a\n  ● x\n",
    "Error: x\n",
    '  File "x", line 1\n',
  ])("of %j", (text) => {
    for (const start of ["", bait]) {
      const output = { stdout: start + fill(text), stderr: "", exitCode: 1 };
      expect(processorMs(() => readOutput(output))).toBeLessThan(1000);
    }
  });
});

test.each(["a", "-eyJ", "sk-", "Bearer a", "://a:", "api_key=", "-----BEGIN PRIVATE KEY-----"])(
  "5 MB of %j are redacted in under a second",
  (text) => {
    const long = fill(text);
    expect(processorMs(() => redact(long))).toBeLessThan(1000);
  },
);

test("20 MB of failures give 50 bounded ones, the last with a count", () => {
  const line = (index: number) => `src/f${index}.ts(1,1): error TS2322: ${"x".repeat(200)}\n`;
  const stdout = Array.from({ length: 80_000 }, (_, index) => line(index)).join("");
  const failures = readOutput({ stdout, stderr: "", exitCode: 1 });
  expect(failures).toHaveLength(maxFailures);
  expect(failures.at(-1)?.message).toMatch(/more failures: \d+ TYPE/);
  expect(JSON.stringify(failures).length).toBeLessThan(100_000);
});

test("the end of a very long output is not lost", () => {
  const stdout = `${"progress\n".repeat(3_000_000)}src/a.ts(1,2): error TS2322: wrong\n`;
  expect(readOutput({ stdout, stderr: "", exitCode: 1 })).toMatchObject([
    { code: "TS2322", file: "src/a.ts" },
  ]);
});

test("a secret in a tool's output does not reach the failure", () => {
  const stderr = "request with Authorization: Bearer abcdef123456 failed";
  expect(JSON.stringify(readOutput({ stdout: "", stderr, exitCode: 1 }))).not.toContain("abcdef123456");
});

/** Makes every reader of tests believe that the output is its own. */
const testBait = [
  "TAP version 13",
  "1..1",
  "ℹ tests 1",
  " RUN  v5.1.0 /project",
  "PASS test/a.test.js",
  "  1 passing (1ms)",
  "ok  \tpkg\t0.1s",
  "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured",
  '<testsuites><testcase name="a"/>',
  "",
].join("\n");

describe("1 MB of anything is counted in under 100 ms for each of nine readers", () => {
  test.each([
    "a",
    " ",
    "\n",
    "ok 1 - a\n",
    "    ok 1 - a\n",
    "not ok 1 - a\n  ---\n",
    "ok 1 - a {\n",
    "✔ a (1ms)\n",
    "  ✖ a\n✔ b (1ms)\n",
    " ✓ a > b 1ms\n",
    "   ❯ a (3)\n",
    "PASS a\n  ✓ b\n",
    "  a\n   b\n    c\n",
    "a.py::b PASSED\n",
    "1 passed, ",
    "::".repeat(50),
    "--- PASS: T/a/b/c (0.00s)\n",
    '{"Action":"output","Output":"ok"}\n',
    "test a ... ok\n",
    "    PASS [ 0.1s] (1/1) a b\n",
    "<testcase>",
    '<testcase name="a"><failure',
    "<testcase name='",
  ])("of %j", (text) => {
    const long = text.repeat(Math.ceil(1_000_000 / text.length)).slice(0, 1_000_000);
    for (const start of ["", testBait]) {
      const output = { stdout: start + long, stderr: "", exitCode: 0 };
      expect(processorMs(() => readTests(output))).toBeLessThan(900);
    }
  });
});
