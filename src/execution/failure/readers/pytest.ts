import type { Failure } from "../../../domain/failure.ts";
import { collect, findReport, linesOf, type OutputReader, textOf } from "../command-output.ts";
import { noTests } from "../test-failure.ts";
import { pytestBlock } from "./pytest-block.ts";
import { isPytestReport, reportFailures } from "./pytest-report.ts";

/** pytest: text in every `--tb` style, and the JSON of pytest-json-report. */
export const readPytest: OutputReader = (output) => {
  const report = findReport(output, '"summary"');
  if (isPytestReport(report)) {
    return report.exitcode === 5 ? [noTests("pytest")] : collect(reportFailures(report));
  }
  const text = textOf(output);
  if (!/^=+ (?:test session starts|FAILURES|ERRORS|short test summary info) =+$/m.test(text))
    return undefined;
  if (/^=* ?no tests ran in /m.test(text) && !/^=+ ERRORS =+$/m.test(text)) return [noTests("pytest")];
  const lines = linesOf(output);
  const found = collect(blockFailures(lines));
  const placed = [...found, ...(found.some(isOrdinary) ? [] : collect(lineFailures(lines)))];
  return placed.length > 0 ? placed : collect(summaryFailures(lines));
};

const isOrdinary = ({ message }: Failure): boolean => !message.startsWith("ERROR ");

const heading = /^_{3,} (.+?) _{3,}$/;

/** "____ test_name ____", the report of one test, up to the next heading. */
function* blockFailures(lines: readonly string[]): Generator<Failure> {
  let at = 0;
  while (at < lines.length) {
    const title = heading.exec(lines[at] ?? "")?.[1];
    at += 1;
    if (title === undefined) continue;
    const start = at;
    while (at < lines.length && !heading.test(lines[at] ?? "") && !/^={3,}/.test(lines[at] ?? "")) at += 1;
    yield pytestBlock(title, lines.slice(start, Math.min(at, start + 500)));
  }
}

/** `--tb=line`: "/project/test_cart.py:5: assert -3 == 3". */
function* lineFailures(lines: readonly string[]): Generator<Failure> {
  const start = lines.findIndex((line) => /^=+ FAILURES =+$/.test(line));
  if (start === -1) return;
  for (const line of lines.slice(start + 1)) {
    if (/^={3,}/.test(line)) return;
    const found = /^(.+?:\d{1,9}): (.+)$/.exec(line);
    if (found !== null) yield pytestBlock(undefined, [`E   ${found[2]}`, `${found[1]}: `]);
  }
}

/** `--tb=no`: "FAILED test_cart.py::test_total - assert -3 == 3". */
function* summaryFailures(lines: readonly string[]): Generator<Failure> {
  for (const line of lines) {
    const found = /^(?:FAILED|ERROR) ([^\s:]{1,1000})(?:::(\S{1,1000}))?(?: - (.*))?$/.exec(line);
    if (found === null) continue;
    yield pytestBlock(found[2] ?? `ERROR collecting ${found[1]}`, [`E   ${found[3] ?? "failed"}`], found[1]);
  }
}
