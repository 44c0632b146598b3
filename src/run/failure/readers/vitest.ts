import type { Failure } from "../../../domain/failure.ts";
import { collect, linesOf, type OutputReader, textOf } from "../command-output.ts";
import { noTests } from "../test-failure.ts";
import { jestBlock } from "./jest.ts";

const source = "vitest";

export const readVitest: OutputReader = (output) => {
  const text = textOf(output);
  if (!/^ RUN {2}v\d/m.test(text) && !/^ {1,10}Test Files {2}\d/m.test(text)) return undefined;
  if (/^No test files found/m.test(text)) return [noTests(source)];
  return collect(textFailures(linesOf(output)));
};

const head = /^ FAIL {2}(?:\|[^|]{1,100}\| )?(.+)$/;
const lost = /^⎯+ (Unhandled Rejection|Uncaught Exception|Unhandled Error) ⎯+$/;

function* textFailures(lines: readonly string[]): Generator<Failure> {
  let at = 0;
  while (at < lines.length) {
    const names: string[] = [];
    // Tests that fail with the same error share one block, their names above it.
    for (let name = nameAt(lines, at); name !== undefined; name = nameAt(lines, at)) {
      names.push(name);
      at += 1;
    }
    if (names.length === 0) {
      at += 1;
      continue;
    }
    const start = at;
    while (at < lines.length && !isEnd(lines[at] ?? "")) at += 1;
    const block = lines.slice(start, Math.min(at, start + 200));
    for (const name of names) yield ofBlock(name, block);
  }
}

function nameAt(lines: readonly string[], at: number): string | undefined {
  const line = lines[at] ?? "";
  return head.exec(line)?.[1] ?? lost.exec(line)?.[1];
}

const isEnd = (line: string): boolean => line.startsWith("⎯⎯") || head.test(line);

function ofBlock(name: string, lines: readonly string[]): Failure {
  const suite = /^(.+?) \[ .+ \]$/.exec(name)?.[1];
  if (suite !== undefined) return jestBlock({ source, title: undefined, file: suite, lines });
  const [file = "", ...titles] = name.split(" > ");
  return jestBlock({ source, title: titles.join(" > ") || name, file: titles.length > 0 ? file : "", lines });
}
