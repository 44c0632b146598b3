import type { Failure } from "../../../domain/failure.ts";
import { type Place, readErrorLine } from "../places.ts";
import { failedTest } from "../test-failure.ts";

const library = /[\\/]site-packages[\\/]|[\\/]dist-packages[\\/]|[\\/]lib[\\/]python\d|^</;

/** One test's report: the lines that begin with "E" say what, the last place in the project's code says where. */
export function pytestBlock(title: string | undefined, lines: readonly string[], file?: string): Failure {
  const said = lines.filter((line) => /^E\s/.test(line)).map((line) => line.slice(1).trim());
  // A SyntaxError quotes its file and line first and names itself last.
  const quoted = /^File "(.{1,1000})", line (\d{1,9})/.exec(said[0] ?? "");
  const { name, message } = readErrorLine((quoted === null ? said[0] : said.at(-1)) ?? "");
  const found = quoted === null ? lastPlace(lines) : { file: quoted[1] ?? "", line: Number(quoted[2]) };
  const collecting = title?.startsWith("ERROR collecting ") === true;
  const errorName = name || nameBelow(lines) || (/^assert\b/.test(message) ? "AssertionError" : "");
  return failedTest({
    source: "pytest",
    title: collecting ? undefined : (title ?? ""),
    errorName: errorName.split(".").at(-1) ?? "",
    message,
    details: lines.join("\n"),
    place: found ?? (file === undefined ? undefined : { file }),
  });
}

/** "test_cart.py:5: AssertionError" (long), "test_cart.py:5: in test_total" (short), 'File "x", line 5' (native). */
function lastPlace(lines: readonly string[]): Place | undefined {
  const own = lines
    .map(
      (line) =>
        /^(\S.{0,1000}?):(\d{1,9}): /.exec(`${line} `) ?? /^\s+File "(.{1,1000})", line (\d{1,9})/.exec(line),
    )
    .filter((found) => found !== null)
    .map((found) => ({ file: found[1] ?? "", line: Number(found[2]) }))
    .filter((place) => !place.file.startsWith("E ") && !library.test(place.file));
  return own.at(-1);
}

const nameBelow = (lines: readonly string[]): string =>
  lines
    .map((line) => /^\S.{0,1000}?:\d{1,9}: ([A-Za-z_][\w.]{0,100})$/.exec(line)?.[1])
    .findLast((name) => name !== undefined) ?? "";
