import type { TestCounts } from "../../domain/test-report.ts";
import * as is from "../schema.ts";
import { testCounts } from "../values.ts";
import { event } from "./define.ts";

/** A check as it ended on the files that the session began with. */
const measured = is.object({
  /** `checkKey` of the command: checks that run the same are measured once. */
  key: is.label,
  checks: is.list(is.text),
  /** `not-run`: it could not be started. */
  status: is.literal("passed", "failed", "not-run"),
  /** Null: a limit ended it, or it was not started. */
  exitCode: is.nullable(is.number),
  message: is.text,
  tests: is.optional(testCounts),
  /** The artifact with the names of its tests, where its output names all of them. */
  names: is.optional(is.sha256),
  /** The artifact with everything that it printed. */
  output: is.optional(is.sha256),
});
export type BaselineRun = is.TypeOf<typeof measured>;

export const baselineEvents = {
  "baseline.measured": event({
    row: measured,
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
