import type { Failure } from "../../../domain/failure.ts";
import { type CommandOutput, collect, linesOf, type OutputReader, textOf } from "../command-output.ts";
import { findFrame, type Place, preferShort, readErrorLine, readPlace } from "../places.ts";
import { failedTest } from "../test-failure.ts";
import { crashes } from "./node-crash.ts";
import { tapFailures } from "./tap.ts";

const source = "node:test";

/** node:test, with the spec and the TAP reporter, and TAP of others. */
export const readNodeTest: OutputReader = (output) => {
  const text = textOf(output);
  if (/^TAP version \d+$/m.test(text) || /^not ok \d/m.test(text)) return fromTap(output);
  if (/^ℹ tests \d+$/m.test(text))
    return collect(withCrashes(specFailures(linesOf(output)), linesOf(output)));
  return undefined;
};

function fromTap(output: CommandOutput): Failure[] {
  const comments = linesOf(output).map((line) =>
    line.startsWith("# ") ? line.slice(2).replaceAll("\\#", "#") : line,
  );
  return collect(withCrashes(tapFailures(linesOf(output), source), comments));
}

/** A file that dies before its tests run is only "test failed"; why stands in what it printed. */
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
  const start = lines.indexOf("✖ failing tests:");
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
    // An assertion says "…:" first and the values on the lines below.
    const frames = block.findIndex((line) => line.trimStart().startsWith("at "));
    const said = block.slice(0, frames === -1 ? 10 : frames).map((line) => line.trim());
    const { name, message } = readErrorLine(said.join(" "));
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
