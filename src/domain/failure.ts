import { redact } from "./redact.ts";

export const failureCategories = [
  "SYNTAX",
  "TYPE",
  "IMPORT",
  "TEST_FAILURE",
  "CONTRACT",
  "ARCHITECTURE",
  "TIMEOUT",
  "API_ERROR",
  "RATE_LIMIT",
  "AUTH",
  "RESOURCE",
  "BUDGET",
  "GOVERNANCE",
  "UNKNOWN",
] as const;
export type FailureCategory = (typeof failureCategories)[number];

export type Severity = "critical" | "high" | "medium" | "low";

/** A classified error. Bounded and without secrets, so it may appear in journals, prompts and tickets. */
export interface Failure {
  readonly category: FailureCategory;
  readonly severity: Severity;
  /** One line. */
  readonly message: string;
  readonly details?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** The tool's own code: TS2345, ECONNRESET, no-undef, 503. */
  readonly code?: string;
  /** The reader that found it, or "error". */
  readonly source: string;
  /** Whether another try could help. */
  readonly recoverable: boolean;
  /** The dependency failed, not the work: network, 5xx, 429, no answer in time. */
  readonly outage: boolean;
  readonly suggestedFix: string;
  readonly retryAfterMs?: number;
  /** The service whose call failed. Its breaker knows how long to wait. */
  readonly dependency?: string;
}

export interface CategoryRow {
  readonly severity: Severity;
  readonly recoverable: boolean;
  readonly meaning: string;
  readonly suggestedFix: string;
}

const row = (
  severity: Severity,
  recoverable: boolean,
  meaning: string,
  suggestedFix: string,
): CategoryRow => ({
  severity,
  recoverable,
  meaning,
  suggestedFix,
});

/** Defaults of a category, unless the error itself says more. */
export const failureTable: Readonly<Record<FailureCategory, CategoryRow>> = {
  SYNTAX: row("high", true, "text that cannot be parsed", "Correct the syntax at the place named."),
  TYPE: row("medium", true, "a value or name that does not fit", "Make the types agree at the place named."),
  IMPORT: row(
    "high",
    true,
    "a module, package or tool that cannot be found",
    "Correct the import, or declare and install the dependency.",
  ),
  TEST_FAILURE: row("medium", true, "a test that does not pass", "Make the code do what the test expects."),
  CONTRACT: row(
    "high",
    true,
    "a result, rule or setting that was agreed and is not met",
    "Deliver what the contract asks for, in the form it asks for.",
  ),
  ARCHITECTURE: row(
    "medium",
    true,
    "code in the wrong place or a forbidden dependency",
    "Respect the project's layers and import rules.",
  ),
  TIMEOUT: row(
    "medium",
    true,
    "no end within the time allowed",
    "Try again; do less at once or allow more time.",
  ),
  API_ERROR: row(
    "medium",
    true,
    "a service that failed or refused",
    "Try again; check the service's status.",
  ),
  RATE_LIMIT: row(
    "low",
    true,
    "too many calls for the moment",
    "Wait as long as the service says, then retry.",
  ),
  AUTH: row(
    "critical",
    false,
    "a key, permission or account balance that is missing",
    "Set a valid key with the needed rights and credit, then resume.",
  ),
  RESOURCE: row(
    "high",
    true,
    "too little memory, disk, descriptors or context window",
    "Use less, or make more of the resource available.",
  ),
  BUDGET: row("critical", false, "a spending limit reached", "Raise the budget, then resume."),
  GOVERNANCE: row("critical", false, "a policy violated", "Keep to the policy, or change it on purpose."),
  UNKNOWN: row("medium", true, "a failure nothing recognized", "Read the details."),
};

/** The part that a reader finds. The category's row has the rest. */
export interface FailureInput {
  readonly category: FailureCategory;
  readonly message: string;
  readonly source: string;
  readonly severity?: Severity | undefined;
  readonly details?: string | undefined;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly code?: string | undefined;
  readonly recoverable?: boolean | undefined;
  readonly outage?: boolean | undefined;
  readonly suggestedFix?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly dependency?: string | undefined;
}

const maxMessageLength = 500;
const maxDetailsLength = 4000;

/** The only way to create a failure: bounds texts and removes secrets. */
export function createFailure(input: FailureInput): Failure {
  const defaults = failureTable[input.category];
  const details = input.details === undefined ? "" : shorten(input.details, maxDetailsLength).trimEnd();
  return {
    category: input.category,
    severity: input.severity ?? defaults.severity,
    message: oneLine(input.message) || defaults.meaning,
    ...(details !== "" && { details }),
    ...(input.file !== undefined && input.file !== "" && { file: shorten(input.file, maxMessageLength) }),
    ...(isPlace(input.line) && { line: input.line }),
    ...(isPlace(input.column) && { column: input.column }),
    ...(input.code !== undefined && input.code !== "" && { code: shorten(input.code, 100) }),
    source: input.source,
    recoverable: input.recoverable ?? defaults.recoverable,
    outage: input.outage ?? false,
    suggestedFix: input.suggestedFix ?? defaults.suggestedFix,
    ...(input.retryAfterMs !== undefined && { retryAfterMs: input.retryAfterMs }),
    ...(input.dependency !== undefined && { dependency: input.dependency }),
  };
}

/**
 * Failures with the same category, place, code and message (ignoring numbers and addresses) count as one. The first
 * stays.
 */
export function deduplicate(failures: readonly Failure[]): Failure[] {
  const first = new Map<string, Failure>();
  for (const failure of failures) {
    const { category, file, line, code, message } = failure;
    const key = JSON.stringify([category, file, line, code, message.replace(/0x[\da-f]+|\d+/gi, "#")]);
    if (!first.has(key)) first.set(key, failure);
  }
  return [...first.values()];
}

export const maxFailures = 50;

/** At most 50. The last one then counts the others by category. */
export function boundFailures(failures: readonly Failure[]): Failure[] {
  const leftOut = failures.slice(maxFailures - 1);
  const summarized = leftOut[0];
  if (summarized === undefined || leftOut.length === 1) return [...failures];
  const counts = Map.groupBy(leftOut, ({ category }) => category);
  const list = [...counts].map(([category, { length }]) => `${length} ${category}`).join(", ");
  const summary = createFailure({
    category: summarized.category,
    message: `${leftOut.length} more failures: ${list}`,
    source: "summary",
    recoverable: leftOut.every(({ recoverable }) => recoverable),
  });
  return [...failures.slice(0, maxFailures - 1), summary];
}

const oneLine = (text: string): string =>
  shorten(
    text
      .slice(0, maxMessageLength * 8)
      .replace(/\s+/g, " ")
      .trim(),
    maxMessageLength,
  );

function shorten(text: string, maxLength: number): string {
  // Redacted before the cut, so that no half of a secret remains at the end.
  const kept = redact(text.slice(0, maxLength * 4));
  return kept.length <= maxLength ? kept : `${kept.slice(0, maxLength - 1).toWellFormed()}…`;
}

const isPlace = (value: number | undefined): value is number =>
  value !== undefined && Number.isSafeInteger(value) && value > 0;
