import { createFailure, type Failure } from "../../../domain/failure.ts";
import { type CommandOutput, collect, linesOf, type OutputReader, textOf } from "../command-output.ts";
import { failedTest } from "../test-failure.ts";
import { type TestOutcome, type TestReader, TestTally } from "../test-tally.ts";

const packageEnd = /^(ok|FAIL|\?) {0,3}\t(\S{1,1000})(.*)$/;
const testEnd = /^ {0,200}--- (PASS|FAIL|SKIP): (\S{1,1000}) \(/;

const isGo = (text: string): boolean =>
  /^(?:ok|FAIL|\?) {0,3}\t\S/m.test(text) || /^\{"(?:Time|ImportPath|Action)":/m.test(text);

/** The text that `go test` would print, of `go test -json` too. */
function goLines(output: CommandOutput): readonly string[] {
  const lines = linesOf(output);
  if (!/^\{"(?:Time|ImportPath|Action)":/m.test(textOf(output))) return lines;
  const printed = lines.map((line) => {
    const { Output: text } = eventIn(line);
    return typeof text === "string" ? text : line.startsWith("{") ? "" : `${line}\n`;
  });
  return printed.join("").split("\n");
}

interface GoEvent {
  readonly Action?: unknown;
  readonly Package?: unknown;
  readonly Test?: unknown;
  readonly Output?: unknown;
}

function eventIn(line: string): GoEvent {
  if (!line.startsWith("{")) return {};
  try {
    return JSON.parse(line) as GoEvent;
  } catch {
    return {};
  }
}

export const readGo: OutputReader = (output) =>
  isGo(textOf(output)) ? collect(failuresIn(goLines(output))) : undefined;

const message = /^\s{1,200}(\S{1,1000}\.go):(\d{1,9}): (.*)$/;
const compilerError = /^(?:vet: )?(\S{1,1000}\.go):(\d{1,9}):(\d{1,9}): (.*)$/;

/** The messages of a test stand before its end with -v, and behind it without. */
function* failuresIn(lines: readonly string[]): Generator<Failure> {
  let tests = new FailedTests();
  for (const line of lines) {
    const begun = /^=== (?:RUN|NAME|CONT) {1,4}(\S{1,1000})$/.exec(line)?.[1];
    const [, verdict, ended] = testEnd.exec(line) ?? [];
    const broken = compilerError.exec(line);
    if (begun !== undefined) tests.enter(begun);
    else if (ended !== undefined) tests.end(ended, verdict === "FAIL");
    else if (broken !== null) yield compilerFailure(broken);
    else if (packageEnd.test(line)) {
      yield* tests.failures();
      tests = new FailedTests();
    } else tests.print(line);
  }
  yield* tests.failures();
}

function compilerFailure([, file, line, column, text = ""]: RegExpExecArray): Failure {
  const category = text.startsWith("syntax error") ? "SYNTAX" : "TYPE";
  const place = { file, line: Number(line), column: Number(column) };
  return createFailure({ category, message: text, source: "go", ...place });
}

/** The tests of one package. */
class FailedTests {
  readonly #printed = new Map<string, string[]>();
  readonly #failed = new Set<string>();
  #current = "";

  enter(test: string): void {
    this.#current = test;
  }

  end(test: string, hasFailed: boolean): void {
    this.#current = test;
    if (hasFailed) this.#failed.add(test);
  }

  print(line: string): void {
    const block = this.#printed.get(this.#current) ?? [];
    if (block.length < 200) block.push(line);
    this.#printed.set(this.#current, block);
  }

  *failures(): Generator<Failure> {
    const parents = new Set([...this.#failed].flatMap(parentsOf));
    for (const test of this.#failed) {
      const block = this.#printed.get(test) ?? [];
      const [, file, line, text] = block.map((printed) => message.exec(printed)).find(Boolean) ?? [];
      // A parent without a message of its own failed because of its children.
      if (text === undefined && parents.has(test)) continue;
      const panic = block.find((printed) => printed.includes("panic: "))?.trim();
      yield failedTest({
        source: "go",
        title: test,
        errorName: "",
        message: text ?? panic ?? "failed",
        details: block.join("\n"),
        place: file === undefined ? undefined : { file, line: Number(line) },
      });
    }
  }
}

/** Without -v nothing says how many tests passed: the number is known only where no package has any. */
export const goTests: TestReader = (output) => {
  if (!isGo(textOf(output))) return undefined;
  const lines = goLines(output);
  const isVerbose = lines.some((line) => /^(?:=== RUN| {0,200}--- (?:PASS|SKIP): )/.test(line));
  const tally = new TestTally();
  let tests = new Map<string, TestOutcome>();
  for (const line of lines) {
    const test = testEnd.exec(line);
    if (test !== null) tests.set(test[2] ?? "", outcomes[test[1] ?? ""] ?? "failed");
    const found = packageEnd.exec(line);
    if (found === null) continue;
    const [, verdict, name = "", rest = ""] = found;
    if (!isVerbose && verdict !== "?" && !rest.includes("[no tests to run]")) return undefined;
    countPackage({ verdict: verdict ?? "", name, tests }, tally);
    tests = new Map();
  }
  return tally.report;
};

const outcomes: Readonly<Record<string, TestOutcome>> = { PASS: "passed", FAIL: "failed", SKIP: "skipped" };

interface GoPackage {
  readonly verdict: string;
  readonly name: string;
  readonly tests: ReadonlyMap<string, TestOutcome>;
}

function countPackage({ verdict, name, tests }: GoPackage, tally: TestTally): void {
  const parents = new Set([...tests.keys()].flatMap(parentsOf));
  for (const [test, outcome] of tests) if (!parents.has(test)) tally.add(outcome, `${name} ${test}`);
  // It does not compile, or ended before its tests did.
  if (verdict === "FAIL" && ![...tests.values()].includes("failed")) tally.add("failed", name);
}

const parentsOf = (test: string): string[] => {
  const parts = test.split("/").slice(0, 20);
  return parts.slice(1).map((_, place) => parts.slice(0, place + 1).join("/"));
};
