import type { Failure } from "../../../domain/failure.ts";
import { readErrorLine } from "../places.ts";
import { fieldOf, listOf, textOf } from "../report-fields.ts";
import { failedTest } from "../test-failure.ts";
import { pytestBlock } from "./pytest-block.ts";

/** The file that pytest-json-report writes. */
export interface PytestReport {
  readonly exitcode: unknown;
}

export const isPytestReport = (value: unknown): value is PytestReport =>
  typeof value === "object" && value !== null && "exitcode" in value && "summary" in value;

export function* reportFailures(report: PytestReport): Generator<Failure> {
  for (const collector of listOf(report, "collectors")) {
    if (fieldOf(collector, "outcome") !== "failed") continue;
    const text = textOf(collector, "longrepr");
    yield pytestBlock(`ERROR collecting ${textOf(collector, "nodeid")}`, text.split("\n"));
  }
  for (const test of listOf(report, "tests")) {
    const outcome = fieldOf(test, "outcome");
    if (outcome !== "failed" && outcome !== "error") continue;
    const phase = ["setup", "call", "teardown"].find(
      (name) => fieldOf(fieldOf(test, name), "outcome") === "failed",
    );
    yield ofPhase(test, phase ?? "call");
  }
}

function ofPhase(test: unknown, name: string): Failure {
  const phase = fieldOf(test, name);
  const crash = fieldOf(phase, "crash");
  const traceback = listOf(phase, "traceback");
  const said = textOf(crash, "message");
  const error = readErrorLine(said.split("\n")[0] ?? "");
  const title = textOf(test, "nodeid");
  const line = fieldOf(crash, "lineno");
  return failedTest({
    source: "pytest",
    title: name === "call" ? title : `${title} (${name})`,
    errorName: error.name || textOf(traceback.at(-1), "message"),
    message: error.message,
    details: textOf(phase, "longrepr") || said,
    place: {
      file: textOf(crash, "path") || (title.split("::")[0] ?? ""),
      line: typeof line === "number" ? line : undefined,
    },
  });
}
