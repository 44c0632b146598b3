import type { TestCounts, TestReport } from "../../domain/test-report.ts";
import type { CommandOutput } from "./command-output.ts";

/** `undefined`: not the output of this tool, or it says nothing about tests. */
export type TestReader = (output: CommandOutput) => TestReport | undefined;

export type TestOutcome = keyof TestCounts;

const maxNames = 50_000;
const maxNameLength = 500;

/** The tests of one run, one by one. Bounded: beyond that number the names are forgotten and the counts stay. */
export class TestTally {
  readonly #counts = { passed: 0, failed: 0, skipped: 0 };
  readonly #names: { readonly passed: string[]; readonly failed: string[] } = { passed: [], failed: [] };
  #hasNames = true;

  /** A test that ran counts and is named. */
  add(outcome: TestOutcome, name: string): void {
    this.#counts[outcome] += 1;
    this.name(outcome, name);
  }

  /** Named only, such as a suite with an outcome of its own. */
  name(outcome: TestOutcome, name: string): void {
    if (outcome === "skipped" || !this.#hasNames) return;
    const { passed, failed } = this.#names;
    if (passed.length + failed.length >= maxNames) this.#hasNames = false;
    else this.#names[outcome].push(name.slice(0, maxNameLength).toWellFormed());
  }

  count(outcome: TestOutcome, more: number): void {
    this.#counts[outcome] += more;
  }

  forgetNames(): void {
    this.#hasNames = false;
  }

  get counts(): TestCounts {
    return { ...this.#counts };
  }

  get report(): TestReport {
    const { passed, failed } = this.#names;
    return { ...this.#counts, ...(this.#hasNames && { names: { passed, failed } }) };
  }

  /** The tool's own sums, with the names only if they are those of all tests that ran. */
  reportFor(sums: TestCounts): TestReport {
    const { passed, failed } = this.#names;
    const isWhole = this.#hasNames && passed.length === sums.passed && failed.length === sums.failed;
    return { ...sums, ...(isWhole && { names: { passed, failed } }) };
  }
}

/** Several runs in one output. Names are those of all of them, or none. */
export function sumReports(reports: readonly TestReport[]): TestReport | undefined {
  if (reports.length === 0) return undefined;
  const sum = (outcome: TestOutcome) => reports.reduce((all, report) => all + report[outcome], 0);
  const counts = { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
  const names = reports.flatMap((report) => report.names ?? []);
  if (names.length < reports.length) return counts;
  return {
    ...counts,
    names: {
      passed: names.flatMap(({ passed }) => passed),
      failed: names.flatMap(({ failed }) => failed),
    },
  };
}

/** The names above a line of a tree that is printed by indentation. Bounded for an output that only looks like one. */
export class IndentedPath {
  readonly #open: { readonly indent: number; readonly path: string }[] = [];

  enter(indent: number, name: string): void {
    const path = `${this.nameOf(indent, name)} > `.slice(0, maxNameLength);
    if (this.#open.length < 50) this.#open.push({ indent, path });
  }

  /** The full name of a line with this indentation. */
  nameOf(indent: number, name: string): string {
    while ((this.#open.at(-1)?.indent ?? -1) >= indent) this.#open.pop();
    return (this.#open.at(-1)?.path ?? "") + name;
  }

  clear(): void {
    this.#open.length = 0;
  }
}
