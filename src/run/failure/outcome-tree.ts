import type { TestCounts, TestReport } from "../../domain/test-report.ts";
import { type TestOutcome, TestTally } from "./test-tally.ts";

/** A test or a suite whose line stands behind those of its children, which are indented further. */
export interface Outcome {
  readonly outcome: TestOutcome;
  readonly name: string;
  /** A suite does not count as a test. Undefined: it is one if it has children. */
  readonly isSuite: boolean | undefined;
  /** A file in which no test ran. */
  readonly isEmptyFile: boolean;
}

interface Node extends Outcome {
  children: readonly Node[];
}

/** The results of node:test, as its spec and TAP reporters print them, and those of other tools that print TAP. */
export class OutcomeTree {
  readonly #levels: { readonly indent: number; readonly nodes: Node[] }[] = [];
  #size = 0;

  /** Every line so far. */
  get size(): number {
    return this.#size;
  }

  add(indent: number, outcome: Outcome): void {
    this.#size += 1;
    const children = this.#takeDeeper(indent);
    this.#level(indent).push({ ...outcome, children });
  }

  /** The lines since the last one at this indentation belong to it. */
  close(indent: number): void {
    const last = this.#levels.findLast((level) => level.indent === indent)?.nodes.at(-1);
    if (last !== undefined) last.children = [...last.children, ...this.#takeDeeper(indent)];
  }

  /** Files without a test that passed as if they were one. */
  get emptyFiles(): number {
    return this.#roots.filter(isEmptyPass).length;
  }

  tally(): TestTally {
    const tally = new TestTally();
    for (const node of this.#roots) countNode(node, "", tally);
    return tally;
  }

  get #roots(): readonly Node[] {
    return this.#levels.flatMap(({ nodes }) => nodes);
  }

  #level(indent: number): Node[] {
    const last = this.#levels.at(-1);
    if (last?.indent === indent) return last.nodes;
    const nodes: Node[] = [];
    this.#levels.push({ indent, nodes });
    return nodes;
  }

  #takeDeeper(indent: number): Node[] {
    const deeper: Node[][] = [];
    while ((this.#levels.at(-1)?.indent ?? -1) > indent) deeper.push(this.#levels.pop()?.nodes ?? []);
    return deeper.toReversed().flat();
  }
}

const longestPath = 500;

const isEmptyPass = ({ outcome, isEmptyFile, children }: Node): boolean =>
  isEmptyFile && outcome === "passed" && children.length === 0;

function countNode(node: Node, above: string, tally: TestTally): void {
  const { outcome, name, children, isSuite = children.length > 0 } = node;
  const full = `${above}${name}`.slice(0, longestPath);
  for (const child of children) countNode(child, `${full} > `, tally);
  if (isEmptyPass(node)) return;
  if (!isSuite) tally.count(outcome, 1);
  // A parent whose child failed has not failed by itself: a new test in it must not look like an old one that broke.
  const isOwn = outcome !== "failed" || children.every((child) => child.outcome !== "failed");
  tally.name(isOwn ? outcome : "passed", full);
}

/** node:test reports a file without tests as a test that has the name of the file. */
export const isFileName = (name: string): boolean => /\S\.[cm]?[jt]sx?$/.test(name);

/** The sums at the end of a run, as node:test and tape print them; of several runs together. */
export class NodeSums {
  readonly #sums = new Map<string, number>();

  /** Whether the text is one of them. */
  read(text: string): boolean {
    const found = /^(tests|suites|pass|fail|cancelled|skipped|todo) {1,4}(\d{1,9})$/.exec(text);
    if (found === null) return false;
    const [, key = "", value] = found;
    this.#sums.set(key, this.#of(key) + Number(value));
    return true;
  }

  /** Whether the tree has every line. True where no sum was printed. */
  isWhole(tree: OutcomeTree): boolean {
    return !this.#sums.has("tests") || tree.size === this.#of("tests") + this.#of("suites");
  }

  namesIn(tree: OutcomeTree): Pick<TestReport, "names"> {
    const { names } = tree.tally().report;
    return names !== undefined && this.isWhole(tree) ? { names } : {};
  }

  counts(emptyFiles: number): TestCounts {
    return {
      passed: Math.max(0, this.#of("pass") - emptyFiles),
      failed: this.#of("fail") + this.#of("cancelled"),
      skipped: this.#of("skipped") + this.#of("todo"),
    };
  }

  #of(key: string): number {
    return this.#sums.get(key) ?? 0;
  }
}
