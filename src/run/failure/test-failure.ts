import { createFailure, type Failure } from "../../domain/failure.ts";
import { readErrorText } from "./error-text.ts";
import type { Place } from "./places.ts";

export interface FailedTest {
  readonly source: string;
  /** The test's full name, empty where the tool leaves it out; undefined when its file could not be loaded. */
  readonly title: string | undefined;
  readonly errorName: string;
  readonly message: string;
  readonly details: string;
  readonly place: Place | undefined;
}

const timedOut = /\btimed out (?:in|after)\b|Exceeded timeout of|Timeout >\d/;

/**
 * A failed test is a TEST_FAILURE for any error it throws, and also when it takes too long: the work is wrong, and no
 * dependency failed. Only a file that cannot be loaded, or a failed import, gets its own category.
 */
export function failedTest({ source, title, errorName, message, details, place }: FailedTest): Failure {
  const text = readErrorText(errorName, message);
  const telling = title === undefined ? text : text?.category === "IMPORT" ? text : undefined;
  const category = telling?.category ?? "TEST_FAILURE";
  const shown = message === "" ? errorName : message;
  return createFailure({
    category,
    message: title === undefined || title === "" ? shown : `${title}: ${shown}`,
    details,
    source,
    code: timedOut.test(message) ? "timeout" : codeOf(telling?.code ?? errorName),
    file: place?.file,
    line: place?.line,
    column: place?.column,
  });
}

/** "Error" is not a code. */
const codeOf = (name: string): string | undefined => (name === "Error" ? undefined : name);

export const noTests = (source: string): Failure =>
  createFailure({
    category: "TEST_FAILURE",
    message: "no tests were found",
    source,
    code: "no_tests",
    suggestedFix: "Write the tests where the runner looks for them, and name them as it expects.",
  });
