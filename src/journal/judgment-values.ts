import type { CheckResult, GateResult } from "../domain/contract.ts";
import { type Failure, failureCategories } from "../domain/failure.ts";
import type { TestCounts } from "../domain/test-report.ts";
import * as is from "./schema.ts";

// How work was judged.

export const failureFields: is.FieldsFor<Failure> = {
  category: is.literal(...failureCategories),
  severity: is.literal("critical", "high", "medium", "low"),
  message: is.text,
  details: is.optional(is.text),
  file: is.optional(is.text),
  line: is.optional(is.positive),
  column: is.optional(is.positive),
  code: is.optional(is.text),
  source: is.text,
  recoverable: is.boolean,
  outage: is.boolean,
  suggestedFix: is.text,
  retryAfterMs: is.optional(is.number),
  dependency: is.optional(is.label),
};

export const gateResult = is.objectFor<GateResult>({
  threshold: is.optional(is.number),
  score: is.optional(is.number),
  verdict: is.literal("passed", "failed", "unverified"),
});

export const testCounts = is.objectFor<TestCounts>({
  passed: is.whole,
  failed: is.whole,
  skipped: is.whole,
});

export const checkResult = is.objectFor<CheckResult>({
  kind: is.literal("deliverable", "schema", "command"),
  name: is.text,
  status: is.literal("passed", "failed", "not-run"),
  must: is.either(is.boolean, is.literal("no-worse")),
  weight: is.number,
  message: is.text,
  failures: is.list(is.objectFor<Failure>(failureFields)),
  unconfined: is.optional(is.literal(true)),
  tests: is.optional(testCounts),
  output: is.optional(is.sha256),
  ending: is.optional(is.text),
});

/** One persona's contract, judged on the merged tree. */
export const personaChecks = is.object({ persona: is.name, results: is.list(checkResult) });
export type PersonaChecks = is.TypeOf<typeof personaChecks>;

/** A check's outcome on the session's initial files. */
export const baselineRun = is.object({
  /** `checkKey` of the command. Equal checks are measured once. */
  key: is.label,
  checks: is.list(is.text),
  /** `not-run`: it could not be started. */
  status: is.literal("passed", "failed", "not-run"),
  /** Null: a limit ended it, or it was not started. */
  exitCode: is.nullable(is.number),
  message: is.text,
  /** None of the files that its personas deliver existed, so its failure tells nothing. */
  awaited: is.optional(is.literal(true)),
  tests: is.optional(testCounts),
  /** The artifact with the names of its tests, if its output names all of them. */
  names: is.optional(is.sha256),
  /** The artifact with its complete output. */
  output: is.optional(is.sha256),
});
export type BaselineRun = is.TypeOf<typeof baselineRun>;

/** "3 of 153 fail before we began". */
export function beforeWeBegan(
  { status, awaited }: Pick<BaselineRun, "status" | "awaited">,
  tests: TestCounts | null,
): string {
  if (status === "not-run") return "cannot be started";
  if (status === "failed" && tests === null && awaited === true) return "has nothing to judge yet";
  if (tests === null) return `${status === "passed" ? "passes" : "fails"} before we began`;
  const ran = tests.passed + tests.failed;
  if (tests.failed > 0) return `${tests.failed} of ${ran} fail before we began`;
  if (ran === 0) return "runs no tests before we began";
  return status === "passed"
    ? `all ${ran} pass before we began`
    : `fails before we began; all ${ran} tests pass`;
}
