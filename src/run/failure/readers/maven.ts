import { linesOf, textOf } from "../command-output.ts";
import { sumReports, type TestReader } from "../test-tally.ts";

// Surefire of Maven, and the text runner of JUnit 4, whose sums look alike.

const level = /^(?:\[(?:INFO|WARNING|ERROR)\] )?/.source;
const sums = new RegExp(
  `${level}Tests run: (\\d{1,9}), {1,2}Failures: (\\d{1,9})(?:, Errors: (\\d{1,9}))?(?:, Skipped: (\\d{1,9}))?(,.*)?$`,
);
const none = new RegExp(`${level}No tests to run\\.$`);
const allPassed = /^OK \((\d{1,9}) tests?\)$/;

/** One sum for each module. The sums of classes stand before it, with a time, and count only where there is no other. */
export const mavenTests: TestReader = (output) => {
  if (!/Tests run: |No tests to run\.|^OK \(\d{1,9} tests?\)$/m.test(textOf(output))) return undefined;
  const [modules, classes]: [Counts[], Counts[]] = [[], []];
  for (const line of linesOf(output)) {
    const whole = allPassed.exec(line)?.[1];
    const found = sums.exec(line);
    if (whole !== undefined) modules.push({ passed: Number(whole), failed: 0, skipped: 0 });
    else if (none.test(line)) modules.push({ passed: 0, failed: 0, skipped: 0 });
    else if (found !== null) (found[5] === undefined ? modules : classes).push(countsIn(found));
  }
  return sumReports(modules.length > 0 ? modules : classes);
};

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

function countsIn([, run, failures, errors = "0", skips = "0"]: RegExpExecArray): Counts {
  const [failed, skipped] = [Number(failures) + Number(errors), Number(skips)];
  return { passed: Math.max(0, Number(run) - failed - skipped), failed, skipped };
}
