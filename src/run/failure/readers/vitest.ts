import type { Failure } from "../../../domain/failure.ts";
import { collect, linesOf, type OutputReader, textOf } from "../command-output.ts";
import { noTests } from "../test-failure.ts";
import { IndentedPath, sumReports, type TestReader, TestTally } from "../test-tally.ts";
import { jestBlock } from "./jest.ts";

const source = "vitest";

/** Some reporters print nothing else. */
const saysNone = /^No test files found(?:, exiting with code \d+)?$/m;

const isVitest = (text: string): boolean =>
  saysNone.test(text) || /^ RUN {2}v\d/m.test(text) || /^ {1,10}Test Files {2}\d/m.test(text);

export const readVitest: OutputReader = (output) => {
  const text = textOf(output);
  if (!isVitest(text)) return undefined;
  if (saysNone.test(text)) return [noTests(source)];
  return collect(textFailures(linesOf(output)));
};

const head = /^ FAIL {2}(?:\|[^|]{1,100}\| )?(.+)$/;
const lost = /^⎯+ (Unhandled Rejection|Uncaught Exception|Unhandled Error) ⎯+$/;

function* textFailures(lines: readonly string[]): Generator<Failure> {
  let at = 0;
  while (at < lines.length) {
    const names: string[] = [];
    // Tests that fail with the same error share one block, their names above it.
    for (let name = nameAt(lines, at); name !== undefined; name = nameAt(lines, at)) {
      names.push(name);
      at += 1;
    }
    if (names.length === 0) {
      at += 1;
      continue;
    }
    const start = at;
    while (at < lines.length && !isEnd(lines[at] ?? "")) at += 1;
    const block = lines.slice(start, Math.min(at, start + 200));
    for (const name of names) yield ofBlock(name, block);
  }
}

function nameAt(lines: readonly string[], at: number): string | undefined {
  const line = lines[at] ?? "";
  return head.exec(line)?.[1] ?? lost.exec(line)?.[1];
}

const isEnd = (line: string): boolean => line.startsWith("⎯⎯") || head.test(line);

function ofBlock(name: string, lines: readonly string[]): Failure {
  const suite = /^(.+?) \[ .+ \]$/.exec(name)?.[1];
  if (suite !== undefined) return jestBlock({ source, title: undefined, file: suite, lines });
  const [file = "", ...titles] = name.split(" > ");
  return jestBlock({ source, title: titles.join(" > ") || name, file: titles.length > 0 ? file : "", lines });
}

const marked = /^( {1,200})([✓×↓□❯]) (.+?)(?: {1,4}\d{1,9}(?:\.\d{1,3})?m?s)?$/;

/** The default reporter names the tests of files in which one failed; the verbose one names all. */
export const vitestTests: TestReader = (output) => {
  const text = textOf(output);
  if (!isVitest(text)) return undefined;
  const reports = [];
  const path = new IndentedPath();
  let tally = new TestTally();
  for (const line of linesOf(output)) {
    const sums = /^ {1,10}Tests {2}(.*)$/.exec(line)?.[1];
    if (sums !== undefined) {
      reports.push(tally.reportFor(countsIn(sums)));
      tally = new TestTally();
      continue;
    }
    const [, spaces = "", mark, rest = ""] = marked.exec(line) ?? [];
    if (mark === undefined) continue;
    // "cart (3)", "test/sum.test.js (4 tests | 3 failed)": a suite or a file, with the number of its tests.
    const above = /^(.+?) \(\d{1,9}(?: tests?[^()]{0,200})?\)$/.exec(rest)?.[1];
    if (above !== undefined) path.enter(spaces.length, above);
    else if (mark === "✓") tally.add("passed", path.nameOf(spaces.length, rest));
    else if (mark === "×") tally.add("failed", path.nameOf(spaces.length, rest));
  }
  if (reports.length > 0) return sumReports(reports);
  return saysNone.test(text) ? { passed: 0, failed: 0, skipped: 0 } : undefined;
};

/** "1 failed | 4 passed | 1 skipped | 1 todo (7)", or "no tests". */
function countsIn(sums: string) {
  const sumOf = (word: string) =>
    Number(new RegExp(`(?:^|\\| )(\\d{1,9}) ${word}(?= |$)`).exec(sums)?.[1] ?? 0);
  return { passed: sumOf("passed"), failed: sumOf("failed"), skipped: sumOf("skipped") + sumOf("todo") };
}
