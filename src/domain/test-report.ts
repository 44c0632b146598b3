/** How many tests a program ran. Skipped ones did not run. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The outcome of each test that ran. A name occurs as often as tests have it. */
export interface TestNames {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
}

/** The tests of one command, read from its output. */
export interface TestReport extends TestCounts {
  /** Only if the output names every test. */
  readonly names?: TestNames;
}

export const countsOf = ({ passed, failed, skipped }: TestCounts): TestCounts => ({
  passed,
  failed,
  skipped,
});

/** "3 of 153 tests fail", "153 tests pass", plus the skipped ones. */
export function countedTests({ passed, failed, skipped }: TestCounts): string {
  const ran = passed + failed;
  const noun = ran === 1 ? "test" : "tests";
  const verdict =
    ran === 0
      ? "no tests ran"
      : failed === 0
        ? `${ran} ${noun} ${ran === 1 ? "passes" : "pass"}`
        : `${failed} of ${ran} ${noun} ${failed === 1 ? "fails" : "fail"}`;
  return skipped === 0 ? verdict : `${verdict}, ${skipped} skipped`;
}
