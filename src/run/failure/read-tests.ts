import type { TestReport } from "../../domain/test-report.ts";
import type { CommandOutput } from "./command-output.ts";
import { cargoTests } from "./readers/cargo.ts";
import { goTests } from "./readers/go.ts";
import { jestTests } from "./readers/jest.ts";
import { junitTests } from "./readers/junit.ts";
import { mavenTests } from "./readers/maven.ts";
import { mochaTests } from "./readers/mocha.ts";
import { nodeTests } from "./readers/node-test.ts";
import { pytestTests } from "./readers/pytest.ts";
import { tapTests } from "./readers/tap.ts";
import { vitestTests } from "./readers/vitest.ts";
import { sumReports, type TestReader } from "./test-tally.ts";

const readers: readonly TestReader[] = [
  nodeTests,
  tapTests,
  vitestTests,
  jestTests,
  mochaTests,
  pytestTests,
  goTests,
  cargoTests,
  junitTests,
  mavenTests,
];

/**
 * The tests that a command ran, of every tool whose output it printed: one command may run several. Undefined where no
 * reader knows. Linear in the length of the output.
 */
export function readTests(output: CommandOutput): TestReport | undefined {
  return sumReports(readers.flatMap((reader) => reader(output) ?? []));
}
