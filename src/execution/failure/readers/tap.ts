import type { Failure } from "../../../domain/failure.ts";
import { findFrame, type Place, preferShort, readPlace } from "../places.ts";
import { failedTest } from "../test-failure.ts";

/** Tests that are "not ok" and neither to do nor skipped; a parent that only repeats its children is left out. */
export function* tapFailures(lines: readonly string[], source: string): Generator<Failure> {
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
      place: placeOf(stack, fields),
    });
  }
}

function placeOf(
  stack: readonly string[],
  fields: ReadonlyMap<string, readonly string[]>,
): Place | undefined {
  const test = readPlace((fields.get("location") ?? fields.get("at"))?.[0] ?? "");
  const frame = findFrame(stack.map((line) => `at ${line.trim().replace(/^at /, "")}`));
  return frame === undefined ? test : preferShort(frame, test?.file);
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
