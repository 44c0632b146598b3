import { fingerprint } from "./canonical.ts";
import type { Failure } from "./failure.ts";
import type { Json } from "./json.ts";
import type { TestCounts } from "./test-report.ts";

/** Files that must be there when the persona is done. */
export interface Deliverable {
  readonly name: string;
  /** Globs, matched as globs; each must match at least one file. `!` before one leaves its files out of the others. */
  readonly files: readonly string[];
  /** Fails the attempt; otherwise it only lowers the score. */
  readonly must: boolean;
  readonly weight: number;
}

/** Whether a check fails the attempt. `no-worse`: only if it is worse than on the files that the session began with. */
export type Must = boolean | "no-worse";

/** A command that judges the work: ends with 0 when it is good. check-verdict.ts has the rules. */
export interface Check {
  readonly name: string;
  /** Program and arguments; no shell. */
  readonly run: readonly string[];
  readonly must: Must;
  readonly weight: number;
  readonly timeoutMs?: number;
  /** How many tests must run at least. Default: 1, where a reader knows their number. */
  readonly minTests?: number;
  /** Names of environment variables that it gets. */
  readonly env?: readonly string[];
}

/** Checks that run the same command with the same variables have the same outcome on the same files. */
export const checkKey = ({ run, env = [] }: Pick<Check, "run" | "env">): string =>
  fingerprint({ run, ...(env.length > 0 && { env: env.toSorted() }) });

/** The work that a persona must deliver. Deliverables, schema and commands are all checks. */
export interface Contract {
  readonly deliverables: readonly Deliverable[];
  /** JSON Schema that the persona's `outputs` must fit. */
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
  /** The tests that it ran, where a reader knows. */
  readonly tests?: TestCounts;
  /** The artifact with everything that it printed. */
  readonly output?: string;
  /** The end of what it printed. */
  readonly ending?: string;
  /** The command ran without a sandbox: with the network, and with all files of the user. */
  readonly unconfined?: true;
}

export interface GateResult {
  /** Missing when the phase has no gate. */
  readonly threshold?: number;
  /** Missing when nothing was declared that could be judged. */
  readonly score?: number;
  readonly verdict: "passed" | "failed" | "unverified";
}

/** Weight passed over weight of all that was declared; what could not run counts against it. */
export function judge(results: readonly CheckResult[], threshold: number | undefined): GateResult {
  const all = results.reduce((sum, { weight }) => sum + weight, 0);
  const limit = threshold === undefined ? {} : { threshold };
  if (all === 0) return { ...limit, verdict: "unverified" };
  const passed = results.reduce((sum, { status, weight }) => sum + (status === "passed" ? weight : 0), 0);
  const score = passed / all;
  const musts = results.every(({ must, status }) => !must || status === "passed");
  // A sum of weights such as 0.1 may miss its threshold by a rounding error only.
  const good = musts && score + 1e-9 >= (threshold ?? 0);
  return { ...limit, score, verdict: good ? "passed" : "failed" };
}

export interface CheckLimits {
  /** For a check that names no time of its own. */
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

export const checkLimits: CheckLimits = { timeoutMs: 120_000, maxOutputBytes: 8 * 1024 * 1024 };
