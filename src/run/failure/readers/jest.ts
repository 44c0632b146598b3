import type { Failure } from "../../../domain/failure.ts";
import { collect, linesOf, type OutputReader, textOf } from "../command-output.ts";
import { findFrame, type Place, preferShort, readErrorLine, readPlace } from "../places.ts";
import { failedTest, noTests } from "../test-failure.ts";
import { IndentedPath, sumReports, type TestReader, TestTally } from "../test-tally.ts";

const source = "jest";

export const readJest: OutputReader = (output) => {
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

interface Block {
  readonly source: string;
  /** Undefined when the file itself failed. */
  readonly title: string | undefined;
  readonly file: string;
  readonly lines: readonly string[];
}

/** The text under a failed test or file, as jest and vitest print it. */
export function jestBlock({ source, title, file, lines }: Block): Failure {
  const text = lines.filter((line) => line.trim() !== "" && !line.includes("● Test suite failed to run"));
  const { name, message } = readErrorLine((text[0] ?? "").trim().replace(/^thrown: "/, ""));
  const parsed = placeInMessage(message) ?? pluginPlace(text);
  const place = parsed ?? preferShort(findFrame(text) ?? { file }, file);
  return failedTest({ source, title, errorName: name, message, details: text.join("\n"), place });
}

/** Babel: "/project/src/broken.js: Unexpected token (1:28)"; the column counts from 0. */
function placeInMessage(message: string): Place | undefined {
  const found = /^(\/[^:]{1,1000}|[A-Za-z]:\\[^:]{1,1000}): .*\((\d{1,9}):(\d{1,9})\)$/.exec(message);
  if (found === null) return undefined;
  return { file: found[1] ?? "", line: Number(found[2]), column: Number(found[3]) + 1 };
}

/** Vite: "  File: /project/src/broken.js:1:0". */
function pluginPlace(lines: readonly string[]): Place | undefined {
  const line = lines.slice(0, 10).find((text) => /^\s*File: /.test(text));
  return line === undefined
    ? undefined
    : readPlace(line.replace(/^\s*File: /, "").replace(/\?[^:]*(?=:)/, ""));
}

/** Tests are named with --verbose, and where only one file runs. */
export const jestTests: TestReader = (output) => {
  const text = textOf(output);
  const reports = [];
  const path = new IndentedPath();
  let tally = new TestTally();
  let isTree = false;
  for (const line of linesOf(output)) {
    const file = /^(?:PASS|FAIL) (.+?)(?: \([\d.]{1,20} m?s\))?$/.exec(line)?.[1];
    if (file !== undefined) {
      isTree = true;
      path.clear();
      path.enter(0, file.trim().split(" ").at(-1) ?? file);
      continue;
    }
    const sums = /^Tests: {1,10}(.* total)$/.exec(line)?.[1];
    if (sums !== undefined) {
      reports.push(tally.reportFor(countsIn(sums)));
      tally = new TestTally();
    }
    const found = isTree
      ? /^( {2,200})(?:([✓√✕×○✎]) )?(.+?)(?: \(\d{1,9}(?:\.\d{1,3})? m?s\))?$/.exec(line)
      : null;
    // The tree ends with an empty line, and failures follow.
    if (found === null || line.startsWith("  ● ")) {
      isTree = false;
      continue;
    }
    const [, spaces = "", mark, name = ""] = found;
    if (mark === undefined) path.enter(spaces.length, name);
    else if (mark === "✓" || mark === "√") tally.add("passed", path.nameOf(spaces.length, name));
    else if (mark === "✕" || mark === "×") tally.add("failed", path.nameOf(spaces.length, name));
  }
  if (reports.length > 0) return sumReports(reports);
  return /^No tests found, exiting with code \d/m.test(text)
    ? { passed: 0, failed: 0, skipped: 0 }
    : undefined;
};

/** "3 failed, 1 skipped, 1 todo, 1 passed, 6 total". A file that cannot be loaded is no test: jest counts it apart. */
function countsIn(sums: string) {
  const sumOf = (word: string) =>
    Number(new RegExp(`(?:^|, )(\\d{1,9}) ${word}(?=,|$)`).exec(sums)?.[1] ?? 0);
  return { passed: sumOf("passed"), failed: sumOf("failed"), skipped: sumOf("skipped") + sumOf("todo") };
}
