import { createFailure, type Failure } from "../../../domain/failure.ts";
import { collect, linesOf, type OutputReader, textOf } from "../command-output.ts";
import { readErrorText } from "../error-text.ts";
import type { Place } from "../places.ts";

const library = /[\\/](?:site|dist)-packages[\\/]|[\\/]lib[\\/]python\d|^</;
const frame = /^ {2,}File "(.{1,1000})", line (\d{1,9})/;
const raised = /^([A-Za-z_][\w.]{0,200})(?:: (.*))?$/;

/** Python tracebacks, and syntax errors, which come without one. */
export const readPython: OutputReader = (output) => {
  if (!/^[ |+]{0,20}File "|Traceback \(most recent call last\):$/m.test(textOf(output))) return undefined;
  const failures = collect(tracebacks(linesOf(output)));
  return failures.length > 0 ? failures : undefined;
};

function* tracebacks(lines: readonly string[]): Generator<Failure> {
  let frames: Place[] = [];
  let block: string[] = [];
  let found: Failure | undefined;
  for (const marked of lines) {
    // An exception group draws a tree in front of its lines.
    const line = marked.replace(/^ {2,}[|+] /, "");
    const place = frame.exec(line);
    if (place !== null) frames.push({ file: place[1] ?? "", line: Number(place[2]) });
    if (frames.length > 0 && block.length < 200) block.push(line);
    const error = frames.length > 0 ? raised.exec(line) : null;
    if (error !== null) {
      found = toFailure(error[1] ?? "", error[2] ?? "", frames, block);
      [frames, block] = [[], []];
      continue;
    }
    // Of a chain only the last error counts: it is the one that was not handled.
    if (/^(?:The above exception was|During handling of)/.test(line)) found = undefined;
    else if (found !== undefined && line.startsWith("Traceback (most")) {
      yield found;
      found = undefined;
    }
  }
  if (found !== undefined) yield found;
}

function toFailure(
  name: string,
  message: string,
  frames: readonly Place[],
  block: readonly string[],
): Failure {
  const place = frames.findLast(({ file }) => !library.test(file)) ?? frames.at(-1);
  const short = name.split(".").at(-1) ?? name;
  return createFailure({
    ...(readErrorText(short, message) ?? { category: "UNKNOWN" }),
    message: message === "" ? name : `${name}: ${message}`,
    details: block.join("\n"),
    source: "python",
    code: short,
    file: place?.file,
    line: place?.line,
  });
}
