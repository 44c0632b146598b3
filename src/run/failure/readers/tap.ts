import type { Failure } from "../../../domain/failure.ts";
import type { TestCounts } from "../../../domain/test-report.ts";
import { type CommandOutput, linesOf, textOf } from "../command-output.ts";
import { isFileName, NodeSums, OutcomeTree } from "../outcome-tree.ts";
import { findFrame, type Place, preferShort, readPlace } from "../places.ts";
import { failedTest } from "../test-failure.ts";
import type { TestOutcome, TestReader } from "../test-tally.ts";

// TAP of node:test, tape, tap, vitest and others.

const source = "node:test";

export const isTap = (output: CommandOutput): boolean => {
  const text = textOf(output);
  return /^TAP version \d+$/m.test(text) || /^not ok \d/m.test(text);
};

const point = /^( {0,200})(not ok|ok)\b(?: \d{1,9})?( -)? ?(.*)$/;
const directive = /(?<!\\)# ?(TODO|SKIP)\b/i;

interface Point {
  readonly indent: number;
  readonly outcome: TestOutcome;
  readonly title: string;
  /** tape has none, and its comments are the names of tests. */
  readonly hasDash: boolean;
  /** Its children follow, up to a closing brace. */
  readonly opens: boolean;
}

function pointAt(line: string): Point | undefined {
  const found = point.exec(line);
  if (found === null) return undefined;
  const [, indent = "", verdict, dash, rest = ""] = found;
  const opens = rest.endsWith(" {");
  const text = opens ? rest.slice(0, -2) : rest;
  const mark = directive.exec(text)?.index ?? -1;
  const outcome = mark !== -1 ? "skipped" : verdict === "ok" ? "passed" : "failed";
  const title = (mark === -1 ? text.replace(/ # time=[\d.]{1,20}m?s$/, "") : text.slice(0, mark))
    .trim()
    .replaceAll("\\#", "#");
  return { indent: indent.length, outcome, title, hasDash: dash !== undefined, opens };
}

/** Tests that are "not ok" and neither to do nor skipped; a parent that only repeats its children is left out. */
export function* tapFailures(lines: readonly string[]): Generator<Failure> {
  let failedAt = -1;
  for (const [index, line] of lines.entries()) {
    const found = pointAt(line);
    if (found === undefined) continue;
    // The line of a parent stands behind those of its children.
    const repeats = found.opens || failedAt > found.indent;
    if (failedAt > found.indent) failedAt = -1;
    if (found.outcome !== "failed") continue;
    failedAt = found.indent;
    const fields = readFields(lines, index + 1);
    if (repeats || fields.get("failureType")?.[0] === "subtestsFailed") continue;
    const error = fields.get("error") ?? fields.get("message") ?? [];
    const stack = fields.get("stack") ?? [];
    yield failedTest({
      source,
      title: found.title,
      errorName: fields.get("name")?.[0] ?? "",
      message: error.join(" ").trim() || comparison(fields).join(", ") || "not ok",
      details: [...error, ...comparison(fields), ...(fields.get("diff") ?? []), ...stack].join("\n"),
      place: placeOfFields(stack, fields),
    });
  }
}

const comparison = (fields: ReadonlyMap<string, readonly string[]>): string[] =>
  ["operator", "expected", "actual"].flatMap((key) => {
    const value = fields.get(key);
    return value === undefined ? [] : [`${key}: ${value.join("\n").trim()}`];
  });

function placeOfFields(
  stack: readonly string[],
  fields: ReadonlyMap<string, readonly string[]>,
): Place | undefined {
  const at = (fields.get("location") ?? fields.get("at"))?.[0]?.trim() ?? "";
  const test = readPlace(/\(([^()]{1,2000})\)$/.exec(at)?.[1] ?? at);
  const frame = findFrame(stack.map((line) => `at ${line.trim().replace(/^at /, "")}`));
  return frame === undefined ? test : preferShort(frame, test?.file);
}

const longestBlock = 300;

/** The diagnostic block between "---" and "...": only `key: value` and `key: |-` with indented lines. */
function readFields(lines: readonly string[], from: number): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  const open = /^(\s*)---\s*$/.exec(lines[from] ?? "");
  if (open === null) return fields;
  let indent: number | undefined;
  let block: string[] | undefined;
  for (const line of lines.slice(from + 1, from + longestBlock)) {
    if (line.trim() === "..." || /^\s{0,200}(?:not )?ok \d/.test(line)) break;
    // tape indents the fields, others do not.
    indent ??= /^\s*/.exec(line)?.[0].length ?? 0;
    const field = line.slice(0, indent).trim() === "" ? /^(\w{1,60}): *(.*)$/.exec(line.slice(indent)) : null;
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

/** Counts assertions where the tool reports those, as tape and tap do. */
export const tapTests: TestReader = (output) => {
  if (!hasPoints(textOf(output))) return tapSums(output);
  const lines = linesOf(output);
  const tree = new OutcomeTree();
  const sums = new NodeSums();
  let group = "";
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (line.startsWith("# ")) {
      if (!sums.read(line.slice(2))) group = line.slice(2);
      continue;
    }
    const brace = /^( {0,200})\}$/.exec(line);
    if (brace !== null) tree.close(brace[1]?.length ?? 0);
    const found = pointAt(line);
    if (found === undefined) continue;
    const { end, type } = skipBlock(lines, at + 1);
    at = end - 1;
    const name = found.hasDash || group === "" ? found.title : `${group} > ${found.title}`;
    const isEmptyFile = type === "test" && found.indent === 0 && isFileName(found.title);
    const isSuite = type === undefined ? undefined : type === "suite";
    tree.add(found.indent, { outcome: found.outcome, name, isSuite, isEmptyFile });
  }
  // The tool's own sums decide where lines are missing: the middle of a long output is left out.
  if (!sums.isWhole(tree)) return sums.counts(tree.emptyFiles);
  return tree.tally().report;
};

const hasPoints = (text: string): boolean =>
  /^TAP version \d+$/m.test(text) || (/^1\.\.\d/m.test(text) && /^(?:not )?ok \d/m.test(text));

/** Reporters of node-tap print no TAP. They draw their sums again and again: the last line is true. */
function tapSums(output: CommandOutput): TestCounts | undefined {
  const text = linesOf(output).findLast((line) => /^Asserts: {2}/.test(line));
  if (text === undefined) return undefined;
  const sumOf = (words: string) =>
    Number(new RegExp(`(\\d{1,9}) (?:${words})\\b`).exec(text.replaceAll("\u200B", ""))?.[1] ?? 0);
  return {
    passed: sumOf("pass|passed"),
    failed: sumOf("fail|failed"),
    skipped: sumOf("skip") + sumOf("todo"),
  };
}

/** The block behind a point: where it ends, and what node:test says the point is. */
function skipBlock(
  lines: readonly string[],
  from: number,
): { readonly end: number; readonly type: string | undefined } {
  if (!/^\s*---\s*$/.test(lines[from] ?? "")) return { end: from, type: undefined };
  let type: string | undefined;
  for (let at = from + 1; at < Math.min(lines.length, from + longestBlock); at += 1) {
    const line = lines[at] ?? "";
    type ??= /^\s{0,200}type: '(test|suite)'$/.exec(line)?.[1];
    if (line.trim() === "...") return { end: at + 1, type };
  }
  return { end: from, type: undefined };
}
