import { createFailure, type Failure, type FailureCategory } from "../../../domain/failure.ts";
import { collect, linesOf, type OutputReader, textOf } from "../command-output.ts";

const plain = /^(.+?)\((\d{1,9}),(\d{1,9})\): error (TS\d{1,6}): (.*)$/;
const pretty = /^(.+?):(\d{1,9}):(\d{1,9}) - error (TS\d{1,6}): (.*)$/;
const global = /^error (TS\d{1,6}): (.*)$/;

/** tsc, plain and pretty. */
export const readTsc: OutputReader = (output) =>
  textOf(output).includes("error TS") ? nonEmpty(collect(diagnostics(linesOf(output)))) : undefined;

function* diagnostics(lines: readonly string[]): Generator<Failure> {
  for (const [index, line] of lines.entries()) {
    if (!line.includes("error TS")) continue;
    const placed = plain.exec(line) ?? pretty.exec(line);
    const found = placed?.slice(1) ?? [
      undefined,
      undefined,
      undefined,
      ...(global.exec(line)?.slice(1) ?? []),
    ];
    const [file, row, column, code, message] = found;
    if (code === undefined || message === undefined) continue;
    yield createFailure({
      category: categoryOf(code),
      message,
      details: more(lines, index + 1),
      source: "tsc",
      code,
      file,
      line: Number(row),
      column: Number(column),
    });
  }
}

/** Further lines of the message (indented), and the code frame that pretty output adds after a blank line. */
function more(lines: readonly string[], from: number): string {
  const next = lines.slice(from, from + 8);
  const end = next.findIndex((line) => line !== "" && !/^(?:\s|\d)/.test(line));
  return (end === -1 ? next : next.slice(0, end)).join("\n").trim();
}

const imports = new Set(
  "1192 1259 1261 1479 1541 2305 2306 2307 2497 2613 2614 2688 2691 2724 2732 2792 2834 2835 2846 5097 6053 7016".split(
    " ",
  ),
);

function categoryOf(code: string): FailureCategory {
  const digits = code.slice(2);
  if (imports.has(digits)) return "IMPORT";
  if (/^1\d{3}$/.test(digits)) return "SYNTAX";
  // 5xxx, 6xxx and 18002/18003: the compiler's options and its input files.
  return /^(?:[56]\d{3}|1800[23])$/.test(digits) ? "CONTRACT" : "TYPE";
}

const nonEmpty = (failures: Failure[]): Failure[] | undefined => (failures.length > 0 ? failures : undefined);
