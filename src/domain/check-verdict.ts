import type { Check } from "./contract.ts";
import { countedTests, type TestCounts, type TestNames, type TestReport } from "./test-report.ts";

/** How a command ended. */
export interface CheckRun {
  /** Null: it was stopped by its timeout or another limit. */
  readonly exitCode: number | null;
  /** Missing if no reader knows. */
  readonly tests?: TestReport | undefined;
}

/** `why`: the reason, if the exit code does not tell it. */
export type CheckVerdict = { readonly passed: true } | { readonly passed: false; readonly why?: string };

/** Exit codes with which a shell reports a program that is missing or may not be run. */
export const isStartFailure = (exitCode: number | null): boolean => exitCode === 126 || exitCode === 127;

/**
 * Whether a check passes. `base`: the same command's result on the session's initial files; without it `no-worse`
 * requires a pass.
 */
export function judgeRun(
  { must, minTests }: Pick<Check, "must" | "minTests">,
  now: CheckRun,
  base?: CheckRun,
): CheckVerdict {
  if (now.exitCode === null) return { passed: false };
  // Otherwise settings of a package manager could replace the command behind `npm test`.
  const silent = isStartFailure(now.exitCode) ? undefined : whySilent(now.tests, base?.tests);
  if (silent !== undefined) return { passed: false, why: silent };
  if (must === "no-worse" && base !== undefined) {
    const why = whyWorse(now, base);
    if (why !== undefined) return { passed: false, why };
  } else if (now.exitCode !== 0) return { passed: false };
  const why = whyTooFew(now.tests, minTests);
  return why === undefined ? { passed: true } : { passed: false, why };
}

function whyTooFew(tests: TestCounts | undefined, minTests: number | undefined): string | undefined {
  if (tests === undefined) {
    return minTests === undefined || minTests === 0
      ? undefined
      : `it does not say how many tests it ran, and at least ${minTests} must run (minTests)`;
  }
  const [ran, least] = [tests.passed + tests.failed, minTests ?? 1];
  if (ran >= least) return undefined;
  return ran === 0
    ? `it ran no tests${tests.skipped > 0 ? `, ${tests.skipped} were skipped` : ""} (minTests: ${least})`
    : `it ran ${ran} ${ran === 1 ? "test" : "tests"}, and at least ${least} must run (minTests)`;
}

function whySilent(now: TestCounts | undefined, before: TestCounts | undefined): string | undefined {
  if (now !== undefined || before === undefined || before.passed + before.failed === 0) return undefined;
  return `it no longer reports its tests; before the session began ${countedTests(before)}`;
}

/** Compares by name if both runs name their tests, else by number, else by exit code. */
function whyWorse(now: CheckRun, base: CheckRun): string | undefined {
  const [tests, before] = [now.tests, base.tests];
  // On the base files this would have been a fault of the setup.
  if (isStartFailure(now.exitCode)) return "its program can no longer be started";
  if (before === undefined || tests === undefined)
    return base.exitCode === 0 && now.exitCode !== 0 ? "it passed before the session began" : undefined;
  if (before.names !== undefined && tests.names !== undefined) return whyBroken(tests.names, before.names);
  return tests.passed < before.passed || tests.failed > before.failed
    ? `${countedTests(tests)}; before the session began ${countedTests(before)}`
    : undefined;
}

const mostNamed = 10;

function whyBroken(now: TestNames, before: TestNames): string | undefined {
  const passed = counted(now.passed);
  const failed = new Set(now.failed);
  const lost = [...counted(before.passed)].flatMap(([name, times]) =>
    times > (passed.get(name) ?? 0) ? [name] : [],
  );
  const parts = [
    listed(
      lost.filter((name) => failed.has(name)),
      ["fails now", "fail now"],
    ),
    listed(
      lost.filter((name) => !failed.has(name)),
      ["is missing now", "are missing now"],
    ),
  ];
  return parts.filter((part) => part !== undefined).join("; ") || undefined;
}

/** How often each name occurs. */
function counted(names: readonly string[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  return times;
}

function listed(names: readonly string[], [one, several]: readonly [string, string]): string | undefined {
  if (names.length === 0) return undefined;
  const more = names.length - mostNamed;
  const list = names.slice(0, mostNamed).join(", ") + (more > 0 ? ` and ${more} more` : "");
  const subject = names.length === 1 ? "1 test" : `${names.length} tests`;
  return `${subject} that passed before the session began ${names.length === 1 ? one : several}: ${list}`;
}
