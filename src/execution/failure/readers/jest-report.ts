import type { Failure } from "../../../domain/failure.ts";
import { findFrame, readErrorLine } from "../places.ts";
import { listOf, textOf } from "../report-fields.ts";
import { failedTest } from "../test-failure.ts";
import { jestBlock } from "./jest-block.ts";

/** The JSON of jest, which vitest writes too. */
export interface JestReport {
  readonly testResults: readonly unknown[];
  readonly [key: string]: unknown;
}

export const isJestReport = (value: unknown): value is JestReport =>
  typeof value === "object" && value !== null && "testResults" in value && Array.isArray(value.testResults);

export function* reportFailures(report: JestReport, source: string): Generator<Failure> {
  for (const result of report.testResults) {
    const file = textOf(result, "name");
    let named = 0;
    for (const test of listOf(result, "assertionResults")) {
      if (textOf(test, "status") !== "failed") continue;
      named += 1;
      yield ofTest(test, file, source);
    }
    if (named === 0 && textOf(result, "status") === "failed")
      yield ofFile(textOf(result, "message"), file, source);
  }
}

function ofTest(test: unknown, file: string, source: string): Failure {
  const thrown = textOf(listOf(test, "failureMessages"), "0");
  const lines = thrown.split("\n");
  const { name, message } = readErrorLine(lines[0] ?? "");
  const said = message.replace(/^thrown: "/, "");
  const ancestors = listOf(test, "ancestorTitles").filter((title) => typeof title === "string");
  return failedTest({
    source,
    title: [...ancestors, textOf(test, "title")].join(" > "),
    errorName: name,
    message: said,
    details: lines.join("\n"),
    place: findFrame(lines) ?? { file },
  });
}

const ofFile = (message: string, file: string, source: string): Failure =>
  jestBlock({ source, title: undefined, file, lines: message.split("\n") });
