import type { Failure } from "../../../domain/failure.ts";
import { collect, linesOf, type OutputReader, textOf } from "../command-output.ts";
import { type Place, readErrorLine } from "../places.ts";
import { failedTest, noTests } from "../test-failure.ts";
import { sumReports, type TestReader, TestTally } from "../test-tally.ts";

/** pytest, in every `--tb` style. */
export const readPytest: OutputReader = (output) => {
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

const library = /[\\/]site-packages[\\/]|[\\/]dist-packages[\\/]|[\\/]lib[\\/]python\d|^</;

/** One test's report: lines with "E" have the error, the last place in the project's code has the position. */
function pytestBlock(title: string | undefined, lines: readonly string[], file?: string): Failure {
  const errors = lines.filter((line) => /^E\s/.test(line)).map((line) => line.slice(1).trim());
  // A SyntaxError quotes its file and line first and names itself last.
  const quoted = /^File "(.{1,1000})", line (\d{1,9})/.exec(errors[0] ?? "");
  const { name, message } = readErrorLine((quoted === null ? errors[0] : errors.at(-1)) ?? "");
  const found = quoted === null ? lastPlace(lines) : { file: quoted[1] ?? "", line: Number(quoted[2]) };
  const collecting = title?.startsWith("ERROR collecting ") === true;
  const errorName = name || nameBelow(lines) || (/^assert\b/.test(message) ? "AssertionError" : "");
  return failedTest({
    source: "pytest",
    title: collecting ? undefined : (title ?? ""),
    errorName: errorName.split(".").at(-1) ?? "",
    message,
    details: lines.join("\n"),
    place: found ?? (file === undefined ? undefined : { file }),
  });
}

/** "test_cart.py:5: AssertionError" (long), "test_cart.py:5: in test_total" (short), 'File "x", line 5' (native). */
function lastPlace(lines: readonly string[]): Place | undefined {
  const own = lines
    .map(
      (line) =>
        /^(\S.{0,1000}?):(\d{1,9}): /.exec(`${line} `) ?? /^\s+File "(.{1,1000})", line (\d{1,9})/.exec(line),
    )
    .filter((found) => found !== null)
    .map((found) => ({ file: found[1] ?? "", line: Number(found[2]) }))
    .filter((place) => !place.file.startsWith("E ") && !library.test(place.file));
  return own.at(-1);
}

const nameBelow = (lines: readonly string[]): string =>
  lines
    .map((line) => /^\S.{0,1000}?:\d{1,9}: ([A-Za-z_][\w.]{0,100})$/.exec(line)?.[1])
    .findLast((name) => name !== undefined) ?? "";

const ended =
  /^=* ?((?:\d{1,9} [a-z]{1,20}(?:, )?){1,12}|no tests ran) in [\d.]{1,20}s(?: \([\d:., a-z]{1,40}\))? ?=*$/;
const named =
  /^(?:\[gw\d{1,4}\] \[ {0,3}\d{1,3}%\] )?(?:(PASSED|FAILED|ERROR|XPASS) (\S+?::\S.*?)(?: - .*)?|(\S+?::\S.*?) (PASSED|FAILED|ERROR|XPASS))(?: {1,200}\[ {0,3}\d{1,3}%\])?$/;

/** Tests are named with -v or -rA. */
export const pytestTests: TestReader = (output) => {
  const reports = [];
  let ends = new Map<string, "passed" | "failed">();
  for (const line of linesOf(output)) {
    const test = line.includes("::") ? named.exec(line) : null;
    if (test !== null) {
      const name = test[2] ?? test[3] ?? "";
      const isPass = /PASS/.test(test[1] ?? test[4] ?? "");
      // A test that passes may fail when it is torn down.
      if (!isPass || !ends.has(name)) ends.set(name, isPass ? "passed" : "failed");
    }
    const sums = ended.exec(line)?.[1];
    if (sums === undefined) continue;
    const tally = new TestTally();
    for (const [name, outcome] of ends) tally.add(outcome, name);
    ends = new Map();
    reports.push(tally.reportFor(countsIn(sums)));
  }
  return sumReports(reports);
};

/** "3 failed, 1 passed, 1 xfailed, 1 error": an expected failure is no test that passed. */
function countsIn(sums: string) {
  const sumOf = (...words: readonly string[]) =>
    words.reduce((all, word) => {
      const found = new RegExp(`(?:^|, )(\\d{1,9}) ${word}(?=,|$)`).exec(sums)?.[1];
      return all + Number(found ?? 0);
    }, 0);
  return {
    passed: sumOf("passed", "xpassed"),
    failed: sumOf("failed", "error", "errors"),
    skipped: sumOf("skipped", "xfailed"),
  };
}
