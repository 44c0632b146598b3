import type { Failure } from "../../../domain/failure.ts";
import { type CommandOutput, collect, type OutputReader, textOf } from "../command-output.ts";
import { findFrame, type Place, readErrorLine } from "../places.ts";
import { failedTest } from "../test-failure.ts";
import { type TestOutcome, type TestReader, TestTally } from "../test-tally.ts";

interface TestCase {
  readonly name: string;
  readonly outcome: TestOutcome;
  readonly place: Place | undefined;
  /** The element of the failure, as it was printed. */
  readonly problem: string;
}

const isJunit = (output: CommandOutput): boolean => hasSuites(output) && textOf(output).includes("<testcase");

const hasSuites = (output: CommandOutput): boolean => /<testsuites?[\s/>]/.test(textOf(output));

/** Cut at each test case, so that a report without an end is read once. */
function* casesIn(output: CommandOutput): Generator<TestCase> {
  for (const part of textOf(output)
    .split(/<testcase(?=[\s>/])/)
    .slice(1)) {
    const end = part.indexOf(">");
    if (end === -1) continue;
    const attributes = part.slice(0, end);
    const isEmpty = attributes.endsWith("/");
    const body = isEmpty ? "" : (part.slice(end + 1).split("</testcase>", 1)[0] ?? "");
    const at = body.search(/<(?:failure|error)[\s>/]/);
    const outcome = at !== -1 ? "failed" : /<skipped[\s>/]/.test(body) ? "skipped" : "passed";
    const names = [attribute(attributes, "classname"), attribute(attributes, "name")];
    const file = attribute(attributes, "file");
    yield {
      name: names.filter((name) => name !== undefined).join(" > "),
      outcome,
      place:
        file === undefined ? undefined : { file, line: Number(attribute(attributes, "line")) || undefined },
      problem: at === -1 ? "" : body.slice(at, at + 10_000),
    };
  }
}

export const readJunit: OutputReader = (output) =>
  isJunit(output) ? collect(failuresIn(output)) : undefined;

function* failuresIn(output: CommandOutput): Generator<Failure> {
  for (const { name, outcome, place, problem } of casesIn(output)) {
    if (outcome !== "failed") continue;
    const end = problem.indexOf(">");
    const attributes = problem.slice(0, end === -1 ? problem.length : end);
    const text = decoded(problem.slice(end + 1).split(/<\/(?:failure|error)>/, 1)[0] ?? "")
      .replace(/^\s*<!\[CDATA\[/, "")
      .replace(/\]\]>\s*$/, "");
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const error = readErrorLine(attribute(attributes, "message") ?? lines[0] ?? "failed");
    yield failedTest({
      source: "junit",
      title: name,
      errorName: error.name || (attribute(attributes, "type") ?? ""),
      message: error.message,
      details: text.trim(),
      place: findFrame(lines) ?? place,
    });
  }
}

export const junitTests: TestReader = (output) => {
  if (!hasSuites(output)) return undefined;
  if (!isJunit(output)) return saysNone(textOf(output)) ? { passed: 0, failed: 0, skipped: 0 } : undefined;
  const tally = new TestTally();
  for (const { name, outcome } of casesIn(output)) tally.add(outcome, name);
  return tally.report;
};

/** Without a test case: a report may also have lost them. */
const saysNone = (text: string): boolean =>
  /<testsuites?[\s/>]/.test(text) &&
  !/<testsuites?\s[^>]{0,2000}\btests="(?!0+")[^"]{0,100}"/.test(text) &&
  /<\/testsuites?>|<testsuites?\b[^>]{0,2000}\/>/.test(text);

function attribute(attributes: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}="([^"]{0,2000})"`).exec(attributes)?.[1];
  return found === undefined ? undefined : decoded(found);
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

const decoded = (text: string): string =>
  text.replace(/&(?:(lt|gt|quot|apos|amp)|#(\d{1,7})|#x([\da-fA-F]{1,6}));/g, (whole, name, code, hex) => {
    if (name !== undefined) return entities[name] ?? whole;
    const point = code === undefined ? Number.parseInt(hex, 16) : Number(code);
    return point <= 0x10_ff_ff ? String.fromCodePoint(point) : whole;
  });
