import type { Failure } from "../../../domain/failure.ts";
import { collect, linesOf, type OutputReader, textOf } from "../command-output.ts";
import { findFrame, readErrorLine } from "../places.ts";
import { failedTest } from "../test-failure.ts";
import { IndentedPath, sumReports, type TestReader, TestTally } from "../test-tally.ts";

const isMocha = (text: string): boolean => /^ {2}\d+ passing \(/m.test(text);

export const readMocha: OutputReader = (output) =>
  isMocha(textOf(output)) ? collect(failuresIn(linesOf(output))) : undefined;

/** "  1) cart", "       adds:", an empty line and the error, up to the next number. */
function* failuresIn(lines: readonly string[]): Generator<Failure> {
  let at = lines.findIndex((line) => /^ {2}\d+ failing$/.test(line));
  if (at === -1) return;
  while (at < lines.length) {
    const head = /^ {2}\d{1,9}\) (.+)$/.exec(lines[at] ?? "")?.[1];
    at += 1;
    if (head === undefined) continue;
    const titles = [head];
    while (!titles.at(-1)?.endsWith(":") && (lines[at] ?? "").trim() !== "" && titles.length < 50) {
      titles.push((lines[at] ?? "").trim());
      at += 1;
    }
    const start = at;
    while (at < lines.length && !/^ {2}\d{1,9}\) /.test(lines[at] ?? "")) at += 1;
    const block = lines
      .slice(start, Math.min(at, start + 200))
      .filter((line) => line.trim() !== "")
      .map((line) => line.replace(/^ {6}/, ""));
    const { name, message } = readErrorLine(block[0] ?? "");
    const title = titles.join(" > ").replace(/:$/, "");
    const details = block.join("\n");
    yield failedTest({
      source: "mocha",
      title,
      errorName: name,
      message,
      details,
      place: findFrame(block),
    });
  }
}

/** The spec reporter names every test; other reporters print the same sums. */
export const mochaTests: TestReader = (output) => {
  if (!isMocha(textOf(output))) return undefined;
  const reports = [];
  const path = new IndentedPath();
  let tally = new TestTally();
  const lines = linesOf(output);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const passing = /^ {2}(\d{1,9}) passing \(/.exec(line)?.[1];
    if (passing !== undefined) {
      const end = lines.slice(at + 1, at + 4);
      const sumOf = (word: string) => {
        const sum = new RegExp(`^ {2}(\\d{1,9}) ${word}$`);
        return Number(end.map((text) => sum.exec(text)?.[1]).find((found) => found !== undefined) ?? 0);
      };
      const sums = { passed: Number(passing), failed: sumOf("failing"), skipped: sumOf("pending") };
      reports.push(tally.reportFor(sums));
      tally = new TestTally();
      path.clear();
      continue;
    }
    const found = /^( {2,200})(?:([✔✓√]) |(\d{1,9}\) )|(- ))?(\S.*)$/.exec(line);
    if (found === null) continue;
    const [, spaces = "", passed, failed, pending, text = ""] = found;
    const name = text.replace(/ \(\d{1,9}ms\)$/, "");
    if (passed !== undefined) tally.add("passed", path.nameOf(spaces.length, name));
    else if (failed !== undefined) tally.add("failed", path.nameOf(spaces.length, name));
    else if (pending === undefined) path.enter(spaces.length, name);
  }
  return sumReports(reports);
};
