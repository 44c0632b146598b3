import type { TestCounts } from "../../domain/test-report.ts";
import { type BaselineRun, baselineRun } from "../judgment-values.ts";
import { event } from "./define.ts";

export const baselineEvents = {
  "baseline.measured": event({
    row: baselineRun,
    reduce(state, entry) {
      const { kind: _, ...run } = entry;
      return { ...state, baseline: new Map(state.baseline).set(run.key, run), recoveries: 0 };
    },
    fact: ({ checks, status, tests = null }) => ({ checks, status, tests }),
    sentence: ({ checks, status, tests }) => `check ${checks.join(", ")}: ${beforeWeBegan(status, tests)}`,
    mark: ({ status }) => (status === "passed" ? "good" : "waits"),
    isTransition: true,
    isQuiet: ({ status, tests }) => status === "passed" && tests === null,
  }),
};

/** "3 of 153 fail before we began". */
export function beforeWeBegan(status: BaselineRun["status"], tests: TestCounts | null): string {
  if (status === "not-run") return "cannot be started";
  if (tests === null) return `${status === "passed" ? "passes" : "fails"} before we began`;
  const ran = tests.passed + tests.failed;
  if (tests.failed > 0) return `${tests.failed} of ${ran} fail before we began`;
  if (ran === 0) return "runs no tests before we began";
  return status === "passed"
    ? `all ${ran} pass before we began`
    : `fails before we began; all ${ran} tests pass`;
}
