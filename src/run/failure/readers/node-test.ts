import type { Failure } from "../../../domain/failure.ts";
import { type CommandOutput, collect, linesOf, type OutputReader, textOf } from "../command-output.ts";
import { isFileName, NodeSums, OutcomeTree } from "../outcome-tree.ts";
import { findFrame, type Place, preferShort, readErrorLine, readPlace } from "../places.ts";
import { failedTest } from "../test-failure.ts";
import type { TestOutcome, TestReader } from "../test-tally.ts";
import { crashes } from "./node-crash.ts";
import { isTap, tapFailures } from "./tap.ts";

const source = "node:test";
const listOfFailures = "✖ failing tests:";

/** node:test, with the spec and the TAP reporter, and TAP of others. */
export const readNodeTest: OutputReader = (output) => {
  const text = textOf(output);
  if (isTap(output)) return fromTap(output);
  if (/^ℹ tests \d+$/m.test(text))
    return collect(withCrashes(specFailures(linesOf(output)), linesOf(output)));
  return undefined;
};

function fromTap(output: CommandOutput): Failure[] {
  const comments = linesOf(output).map((line) =>
    line.startsWith("# ") ? line.slice(2).replaceAll("\\#", "#") : line,
  );
  return collect(withCrashes(tapFailures(linesOf(output)), comments));
}

/** A file that dies before its tests run is only reported as "test failed". The reason is in its output. */
function* withCrashes(failures: Iterable<Failure | undefined>, lines: readonly string[]): Generator<Failure> {
  let explained: readonly Failure[] | undefined;
  for (const failure of failures) {
    const died = failure?.category === "TEST_FAILURE" && /: '?test failed'?$/.test(failure.message);
    if (died) explained ??= collect(crashes(lines));
    if (died && explained !== undefined && explained.length > 0) yield* explained;
    else if (failure !== undefined) yield failure;
  }
}

function* specFailures(lines: readonly string[]): Generator<Failure> {
  const start = lines.indexOf(listOfFailures);
  if (start === -1) return;
  let at = start + 1;
  while (at < lines.length) {
    const head = /^(?:test|suite) at (.{1,2000})$/.exec(lines[at] ?? "");
    at += 1;
    const title = /^✖ (.+?)(?: \([\d.]{1,20}ms\))?$/.exec(lines[at] ?? "")?.[1];
    if (head === null || title === undefined) continue;
    let end = at + 1;
    while (end < lines.length && !/^(?:test|suite) at /.test(lines[end] ?? "")) end += 1;
    const block = lines.slice(at + 1, Math.min(end, at + 200));
    at = end;
    const first = (block[0] ?? "").trim();
    if (/^'\d+ subtests? failed'$/.test(first)) continue;
    // An assertion prints "…:" first and the values on the lines below.
    const frames = block.findIndex((line) => line.trimStart().startsWith("at "));
    const text = block.slice(0, frames === -1 ? 10 : frames).map((line) => line.trim());
    const { name, message } = readErrorLine(text.join(" "));
    const place = readPlace(head[1] ?? "");
    yield failedTest({
      source,
      title,
      errorName: name,
      message: message.replace(/^'(.*)'$/, "$1"),
      details: block.join("\n"),
      place: placeOf(block, place),
    });
  }
}

function placeOf(stack: readonly string[], test: Place | undefined): Place | undefined {
  const frame = findFrame(stack);
  return frame === undefined ? test : preferShort(frame, test?.file);
}

const result = /^( {0,200})([▶✔✖﹣⚠]) (.+?)(?: \(([\d.]{1,20})ms\))?(?: # (?:SKIP|TODO)(?: .*)?)?$/u;

const outcomes: Readonly<Record<string, TestOutcome>> = {
  "▶": "passed",
  "✔": "passed",
  "✖": "failed",
  "﹣": "skipped",
  "⚠": "skipped",
};

/** The spec reporter. tap.ts reads the other one. */
export const nodeTests: TestReader = (output) => {
  if (!/^ℹ tests \d+$/m.test(textOf(output))) return undefined;
  const tree = new OutcomeTree();
  const sums = new NodeSums();
  let before = "";
  for (const line of linesOf(output)) {
    if (line.startsWith("ℹ ")) sums.read(line.slice(2));
    const found = result.exec(line);
    // The list of failures names each again, under its place.
    const isRepeated = /^(?:test|suite) at /.test(before);
    before = line;
    if (found === null || isRepeated || line === listOfFailures) continue;
    const [, indent = "", mark = "", name = "", tookMs] = found;
    // Before its children a parent has no time. Node 20 prints the same mark behind them.
    if (mark === "▶" && tookMs === undefined) continue;
    const isMarked = / # (?:SKIP|TODO)(?: .*)?$/.test(line);
    const outcome = isMarked ? "skipped" : (outcomes[mark] ?? "failed");
    const isEmptyFile = indent === "" && isFileName(name);
    tree.add(indent.length, { outcome, name, isSuite: false, isEmptyFile });
  }
  // A line does not tell whether it is that of a suite, so its own sums count.
  return { ...sums.counts(tree.emptyFiles), ...sums.namesIn(tree) };
};
