import { fingerprint } from "./canonical.ts";
import type { Failure } from "./failure.ts";
import type { Json } from "./json.ts";
import type { TestCounts } from "./test-report.ts";

/** Files that must exist when the persona is done. */
export interface Deliverable {
  readonly name: string;
  /** Globs, each of which must match at least one file. A `!` glob excludes its files from the others. */
  readonly files: readonly string[];
  /** Fails the attempt. Otherwise it only lowers the score. */
  readonly must: boolean;
  readonly weight: number;
}

/** Whether a check fails the attempt. `no-worse`: only if its result is worse than on the session's initial files. */
export type Must = boolean | "no-worse";

/** A command that judges the work: it exits with 0 if the work is good. check-verdict.ts has the rules. */
export interface Check {
  readonly name: string;
  /** Program and arguments, without a shell. */
  readonly run: readonly string[];
  readonly must: Must;
  readonly weight: number;
  readonly timeoutMs?: number;
  /** Minimum number of tests that must run. Default: 1, if a reader knows their number. */
  readonly minTests?: number;
  /** Names of environment variables that the command gets. */
  readonly env?: readonly string[];
}

/** Checks that run the same command with the same variables have equal results on equal files. */
export const checkKey = ({ run, env = [] }: Pick<Check, "run" | "env">): string =>
  fingerprint({ run, ...(env.length > 0 && { env: env.toSorted() }) });

/** The work that a persona must deliver. Deliverables, schema and commands are all checks. */
export interface Contract {
  readonly deliverables: readonly Deliverable[];
  /** JSON Schema for the persona's `outputs`. */
  readonly outputs?: Readonly<Record<string, Json>>;
  readonly checks: readonly Check[];
}

export const emptyContract: Contract = { deliverables: [], checks: [] };

/** `not-run`: it could not be judged, which is not the same as good. */
export type CheckStatus = "passed" | "failed" | "not-run";

export interface CheckResult {
  readonly kind: "deliverable" | "schema" | "command";
  readonly name: string;
  readonly status: CheckStatus;
  readonly must: Must;
  readonly weight: number;
  /** One line for people and for the persona's next attempt. */
  readonly message: string;
  readonly failures: readonly Failure[];
  /** The tests that it ran, if a reader knows. */
  readonly tests?: TestCounts;
  /** The artifact with its complete output. */
  readonly output?: string;
  /** The end of its output. */
  readonly ending?: string;
  /** The command ran without a sandbox: with the network and all files of the user. */
  readonly unconfined?: true;
}

export interface GateResult {
  /** Missing if the phase has no gate. */
  readonly threshold?: number;
  /** Missing if nothing was declared that could be judged. */
  readonly score?: number;
  readonly verdict: "passed" | "failed" | "unverified";
}

/** Passed weight divided by all declared weight. Checks that could not run count against it. */
export function judge(results: readonly CheckResult[], threshold: number | undefined): GateResult {
  const all = results.reduce((sum, { weight }) => sum + weight, 0);
  const limit = threshold === undefined ? {} : { threshold };
  if (all === 0) return { ...limit, verdict: "unverified" };
  const passed = results.reduce((sum, { status, weight }) => sum + (status === "passed" ? weight : 0), 0);
  const score = passed / all;
  const musts = results.every(({ must, status }) => !must || status === "passed");
  // A sum of weights such as 0.1 may miss its threshold only by a rounding error.
  const good = musts && score + 1e-9 >= (threshold ?? 0);
  return { ...limit, score, verdict: good ? "passed" : "failed" };
}

export interface CheckLimits {
  /** For a check without its own timeout. */
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

export const checkLimits: CheckLimits = { timeoutMs: 120_000, maxOutputBytes: 8 * 1024 * 1024 };
