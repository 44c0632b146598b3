import type { Failure } from "../../../domain/failure.ts";
import { type CommandOutput, collect, linesOf, type OutputReader, textOf } from "../command-output.ts";
import { findFrame, type Place, preferShort, readErrorLine, readPlace } from "../places.ts";
import { failedTest } from "../test-failure.ts";
import { crashes } from "./node-crash.ts";

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

/** Tests that are "not ok" and neither to do nor skipped; a parent that only repeats its children is left out. */
function* tapFailures(lines: readonly string[], source: string): Generator<Failure> {
  for (const [index, line] of lines.entries()) {
    const found = /^\s{0,200}not ok \d+(?: -)? ?(.*)$/.exec(line);
    const title = found?.[1] ?? "";
    if (found === null || /(?<!\\)# ?(?:TODO|SKIP)\b/i.test(title)) continue;
    const fields = readFields(lines, index + 1);
    if (fields.get("failureType")?.[0] === "subtestsFailed") continue;
    const error = fields.get("error") ?? fields.get("message") ?? [];
    const stack = fields.get("stack") ?? [];
    yield failedTest({
      source,
      title: title.replaceAll("\\#", "#"),
      errorName: fields.get("name")?.[0] ?? "",
      message: error.join(" ").trim() || "not ok",
      details: [...error, ...stack].join("\n"),
      place: placeOfFields(stack, fields),
    });
  }
}

function placeOfFields(
  stack: readonly string[],
  fields: ReadonlyMap<string, readonly string[]>,
): Place | undefined {
  const test = readPlace((fields.get("location") ?? fields.get("at"))?.[0] ?? "");
  return placeOf(
    stack.map((line) => `at ${line.trim().replace(/^at /, "")}`),
    test,
  );
}

/** The diagnostic block between "---" and "...": only `key: value` and `key: |-` with indented lines. */
function readFields(lines: readonly string[], from: number): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  const open = /^(\s*)---\s*$/.exec(lines[from] ?? "");
  if (open === null) return fields;
  const indent = open[1]?.length ?? 0;
  let block: string[] | undefined;
  for (const line of lines.slice(from + 1, from + 300)) {
    if (line.trim() === "..." || /^\s{0,200}(?:not )?ok \d/.test(line)) break;
    const field = line.slice(0, indent).trim() === "" ? /^(\w{1,60}): ?(.*)$/.exec(line.slice(indent)) : null;
    if (field === null) {
      block?.push(line.slice(indent + 2));
      continue;
    }
    const value = field[2] ?? "";
    block = /^[|>][-+]?$/.test(value) ? [] : [unquote(value)];
    fields.set(field[1] ?? "", block);
  }
  return fields;
}

const unquote = (text: string): string => /^(["'])(.*)\1$/.exec(text)?.[2] ?? text;
