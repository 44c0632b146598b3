import { createFailure, type Failure } from "../../../domain/failure.ts";
import { collect, linesOf, type OutputReader, textOf } from "../command-output.ts";
import { readPlace } from "../places.ts";
import { failedTest } from "../test-failure.ts";
import { sumReports, type TestOutcome, type TestReader, TestTally } from "../test-tally.ts";

// cargo test, and cargo nextest.

const compilerError = /^error(?:\[(E\d{1,6})\])?: (.+)$/;

export const readCargo: OutputReader = (output) => {
  const text = textOf(output);
  const hasRun = /^test result: /m.test(text) || /^ {1,12}Summary \[/m.test(text);
  const isBroken = /^error(?:\[E\d+\])?: /m.test(text) && /^ {1,12}--> \S/m.test(text);
  return hasRun || isBroken ? collect(failuresIn(linesOf(output))) : undefined;
};

const panic = /^\s{0,200}thread '(.{1,1000}?)'(?: \(\d{1,20}\))? panicked at (\S{1,1000}:\d{1,9}:\d{1,9}):$/;

function* failuresIn(lines: readonly string[]): Generator<Failure> {
  for (const [at, line] of lines.entries()) {
    const panicked = panic.exec(line);
    if (panicked !== null) {
      const block = blockBelow(
        lines,
        at + 1,
        /^\s{0,200}(?:stack backtrace:|note: |thread '|----|failures:)/,
      );
      const title = panicked[1] ?? "";
      const text = block.map((below) => below.trim()).join(" ");
      const details = [line, ...block].join("\n");
      const place = readPlace(panicked[2] ?? "");
      yield failedTest({ source: "cargo", title, errorName: "", message: text, details, place });
    }
    const error = compilerError.exec(line);
    const arrow = /^ {1,12}--> (\S{1,1000})$/.exec(lines[at + 1] ?? "")?.[1];
    if (error === null || arrow === undefined) continue;
    const { file, line: number, column } = readPlace(arrow) ?? { file: arrow };
    yield createFailure({
      category: error[1] === undefined ? "SYNTAX" : "TYPE",
      message: error[2] ?? "",
      details: [line, ...blockBelow(lines, at + 1, /^$/)].join("\n"),
      source: "cargo",
      code: error[1],
      file,
      line: number,
      column,
    });
  }
}

function blockBelow(lines: readonly string[], from: number, end: RegExp): readonly string[] {
  const block = lines.slice(from, from + 60);
  const stop = block.findIndex((line) => end.test(line));
  return (stop === -1 ? block : block.slice(0, stop)).filter((line) => line.trim() !== "");
}

export const cargoTests: TestReader = (output) => {
  const text = textOf(output);
  if (/^ {1,12}Summary \[.*\] +\d+ tests? run: /m.test(text)) return nextestReport(linesOf(output));
  return /^test result: /m.test(text) ? libtestReport(linesOf(output)) : undefined;
};

const outcomes: Readonly<Record<string, TestOutcome>> = {
  ok: "passed",
  FAILED: "failed",
  ignored: "skipped",
};

/** One run for each program: unit tests, each file of tests, and the examples in comments. */
function libtestReport(lines: readonly string[]) {
  const reports = [];
  let program = "";
  let tally = new TestTally();
  for (const line of lines) {
    // The hash behind the program's name changes with the compiler.
    program = /^ {1,12}(?:Running|Doc-tests) (.{1,500}?)(?: \(.{1,1000}\))?$/.exec(line)?.[1] ?? program;
    const test = /^test (.{1,1000}) \.\.\. (ok|FAILED|ignored)\b/.exec(line);
    if (test !== null)
      tally.add(
        outcomes[test[2] ?? ""] ?? "failed",
        program === "" ? (test[1] ?? "") : `${program} > ${test[1]}`,
      );
    const sums = /^test result: \w{1,20}\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored;/.exec(line);
    if (sums === null) continue;
    const [passed = 0, failed = 0, skipped = 0] = sums.slice(1).map(Number);
    reports.push(tally.reportFor({ passed, failed, skipped }));
    tally = new TestTally();
  }
  return sumReports(reports);
}

/** It names a failed test when it ends, and again behind the sums. */
function nextestReport(lines: readonly string[]) {
  const ends = new Map<string, TestOutcome>();
  const reports = [];
  for (const line of lines) {
    const test =
      /^ {1,12}(PASS|FAIL|LEAK|FLAKY \S{1,20}|TIMEOUT|SIG\w{1,10}|ABORT) \[[^\]]{1,40}\] (?:\( *\d+\/\d+\) )?(\S.{1,1000})$/.exec(
        line,
      );
    if (test !== null) {
      const [, verdict = "", name = ""] = test;
      ends.set(name, /^(?:PASS|LEAK|FLAKY)/.test(verdict) ? "passed" : "failed");
    }
    const sums = /^ {1,12}Summary \[.{1,40}\] +\d{1,9} tests? run: (.*)$/.exec(line)?.[1];
    if (sums === undefined) continue;
    const sumOf = (word: RegExp) => Number(word.exec(sums)?.[1] ?? 0);
    const tally = new TestTally();
    for (const [name, outcome] of ends) tally.add(outcome, name);
    ends.clear();
    reports.push(
      tally.reportFor({
        passed: sumOf(/(\d{1,9}) passed/),
        failed: sumOf(/(\d{1,9}) failed/) + sumOf(/(\d{1,9}) timed out/),
        skipped: sumOf(/(\d{1,9}) skipped/),
      }),
    );
  }
  return sumReports(reports);
}
