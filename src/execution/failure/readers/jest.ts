import type { Failure } from "../../../domain/failure.ts";
import { collect, findReport, linesOf, type OutputReader, textOf } from "../command-output.ts";
import { noTests } from "../test-failure.ts";
import { jestBlock } from "./jest-block.ts";
import { isJestReport, reportFailures } from "./jest-report.ts";

const source = "jest";

/** jest, JSON and text. */
export const readJest: OutputReader = (output) => {
  const report = findReport(output, '"numRuntimeErrorTestSuites"');
  if (isJestReport(report)) return collect(reportFailures(report, source));
  const text = textOf(output);
  if (/^No tests found, exiting with code \d/m.test(text)) return [noTests(source)];
  return /^Test Suites: \d|^Test Suites: .{0,40}\d+ total/m.test(text)
    ? collect(textFailures(linesOf(output)))
    : undefined;
};

const endOfBlock = /^(?:FAIL|PASS|Test Suites:|Summary of all failing tests) ?/;
const bullet = /^ {2}● (.+)$/;

function* textFailures(lines: readonly string[]): Generator<Failure> {
  let file = "";
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    at += 1;
    const failed = /^FAIL (.+?)(?: \([\d.]{1,20} m?s\))?$/.exec(line)?.[1];
    if (failed !== undefined) file = failed.trim().split(" ").at(-1) ?? failed;
    const title = bullet.exec(line)?.[1];
    if (title === undefined || title === "Console") continue;
    const start = at;
    while (at < lines.length && !isEnd(lines[at] ?? "")) at += 1;
    const whole = title === "Test suite failed to run";
    const block = lines.slice(start, Math.min(at, start + 200));
    yield jestBlock({
      source,
      title: whole ? undefined : title.replaceAll(" › ", " > "),
      file,
      lines: block,
    });
  }
}

const isEnd = (line: string): boolean => endOfBlock.test(line) || bullet.test(line);
