import { createFailure, type Failure } from "../../../domain/failure.ts";
import { collect, linesOf, type OutputReader, textOf } from "../command-output.ts";
import { readErrorText } from "../error-text.ts";
import { findFrame, isForeign, type Place, readErrorLine, readPlace } from "../places.ts";
import { verdictOfCode } from "../system-failure.ts";

/** An uncaught error as Node prints it: source line, caret, error, stack. */
export const readNodeCrash: OutputReader = (output) => {
  const text = textOf(output);
  if (!/^[ \t]{1,40}at /m.test(text) && !text.includes("FATAL ERROR: ")) return undefined;
  const failures = collect(crashes(linesOf(output)));
  return failures.length > 0 ? failures : undefined;
};

export function* crashes(lines: readonly string[]): Generator<Failure> {
  for (const [index, line] of lines.entries()) {
    if (line.startsWith("FATAL ERROR: ")) {
      const message = line.slice("FATAL ERROR: ".length);
      const category = readErrorText("", message)?.category ?? "UNKNOWN";
      yield createFailure({ category, message, source: "node", code: "FATAL_ERROR" });
    }
    const error = /^[A-Z$_]/.test(line) ? readErrorLine(line) : undefined;
    if (error === undefined || error.name === "") continue;
    const stack = stackAfter(lines, index + 1);
    if (stack === undefined) continue;
    const code = error.code ?? /^\s+code: '([\w.]{1,60})'/m.exec(stack.join("\n"))?.[1];
    const place = sourceLine(lines, index) ?? findFrame(stack) ?? importer(error.message, stack);
    const verdict = readErrorText(error.name, error.message) ?? verdictOfCode(code);
    yield createFailure({
      ...(verdict ?? { category: "UNKNOWN" }),
      // The project's own program died, and its code can be changed.
      recoverable: verdict?.category === "AUTH" ? true : verdict?.recoverable,
      outage: false,
      message: `${error.name}: ${error.message}`,
      details: [line, ...stack].join("\n"),
      source: "node",
      code: code ?? error.name,
      file: place?.file,
      line: place?.line,
      column: place?.column,
    });
  }
}

const errorHead = /^[A-Z]\w{0,100}(?:Error|Exception)\b/;

/** The frames and properties below an error; undefined when no frame follows soon: then it is only a sentence. */
function stackAfter(lines: readonly string[], from: number): string[] | undefined {
  const first = firstBelow(lines, from, (line) => /^\s+at /.test(line) || errorHead.test(line));
  if (first === undefined || errorHead.test(lines[first] ?? "")) return undefined;
  const isEnd = (line: string): boolean =>
    line === "" || line.startsWith("Node.js v") || errorHead.test(line);
  return lines.slice(from, firstBelow(lines, first, isEnd) ?? first + searched);
}

const searched = 20;

function firstBelow(
  lines: readonly string[],
  from: number,
  is: (line: string) => boolean,
): number | undefined {
  for (let at = from; at < Math.min(lines.length, from + searched); at += 1) {
    if (is(lines[at] ?? "")) return at;
  }
  return undefined;
}

/** "file:///project/main.mjs:3" stands a few lines above the error, with the source line and a caret between. */
function sourceLine(lines: readonly string[], index: number): Place | undefined {
  for (let at = index - 1; at >= Math.max(0, index - 8); at -= 1) {
    const line = lines[at] ?? "";
    if (!/^(?:file:\/\/|\/|[A-Za-z]:\\).*:\d{1,9}$/.test(line)) continue;
    const place = readPlace(line);
    if (place === undefined || isForeign(place.file)) return undefined;
    const caret = lines.slice(at + 1, index).find((below) => /^\s*\^+\s*$/.test(below));
    return { ...place, column: caret === undefined ? undefined : caret.indexOf("^") + 1 };
  }
  return undefined;
}

function importer(message: string, stack: readonly string[]): Place | undefined {
  const named = /' imported from (.{1,1000})$/.exec(message)?.[1];
  const required = stack.find((line) => line.startsWith("- "))?.slice(2);
  const file = named ?? required;
  return file === undefined ? undefined : { file };
}
