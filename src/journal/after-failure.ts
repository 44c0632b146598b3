import { canonicalJson } from "../domain/canonical.ts";
import type { CheckResult } from "../domain/contract.ts";
import { MaestroError } from "../domain/errors.ts";
import type { Failure } from "../domain/failure.ts";
import type { Json } from "../domain/json.ts";
import { decideAfterAttempt, decideAfterRound, type RetryPolicy } from "../domain/retry-policy.ts";
import type { AfterFailure, Wait } from "./journal.ts";

export interface FailedAttempt {
  readonly error: unknown;
  readonly failure: Failure;
  /** A step threw, not the work around it: the steps before it still serve. */
  readonly inStep: boolean;
  /** Attempts of this round that failed, this one included. */
  readonly attemptsFailed: number;
  /** Rounds since a person last granted some, this one included. */
  readonly roundsUsed: number;
  /** Healing changed something for the next attempt: it neither waits nor continues the failed one. */
  readonly mended?: boolean;
  /** The attempt, by the seq of its first row, that failed equally and left equal files: the round is stuck. */
  readonly sameAs?: number | undefined;
  readonly now: number;
  readonly random: number;
}

export interface RetryPolicies {
  readonly attempts: RetryPolicy;
  readonly rounds: RetryPolicy;
}

/** Both levels of retry in one place. The decision is in the journal before anything acts on it. */
export function decideAfterFailure(failed: FailedAttempt, { attempts, rounds }: RetryPolicies): AfterFailure {
  const { error, failure, inStep, attemptsFailed, roundsUsed, mended = false, now, random } = failed;
  const stuck = failed.sameAs !== undefined && !mended && !failure.outage ? { sameAs: failed.sameAs } : {};
  const errorSays = MaestroError.is(error) ? error.next : "retry";
  if (errorSays === "fail" || errorSays === "park") return { kind: "stop" };
  const continues = (failure.outage || inStep) && !mended;
  // Once a person has mended the cause, the steps recorded before it still serve and are not paid again.
  const help = { kind: "help", ...(continues && { continues }), ...stuck } as const;
  // A wrong key stays wrong: neither another attempt nor another round could mend it.
  if (!failure.recoverable && !mended && errorSays !== "next-round") return help;
  // The breaker of a named service keeps its rate limit: all sessions share it, and a person can see and reset it.
  const isShared = failure.category === "RATE_LIMIT" && failure.dependency !== undefined;
  const toldMs = isShared ? 0 : (failure.retryAfterMs ?? 0);
  const mayRetry = errorSays !== "next-round" && !("sameAs" in stuck);
  const attempt = decideAfterAttempt(attempts, attemptsFailed, mayRetry, random);
  if (attempt.kind === "retry") {
    const waitMs = mended ? 0 : Math.max(attempt.delayMs, toldMs);
    return { kind: "attempt", wait: waitOf(waitMs, now), continues };
  }
  const round = decideAfterRound(rounds, roundsUsed);
  if (round.kind === "retry")
    return { kind: "round", wait: waitOf(Math.max(round.delayMs, toldMs), now), continues, ...stuck };
  return help;
}

function waitOf(waitMs: number, now: number): Wait {
  return { notBefore: now + waitMs, waitMs };
}

/** The end of an attempt as far as it tells whether the next one made progress. */
export interface AttemptOutcome {
  readonly tree: string | undefined;
  readonly checks: readonly CheckResult[];
}

/** The same checks failed in the same way, and the files are the same: another attempt of the round would pay for nothing. */
export function isEqualFailure(one: AttemptOutcome, other: AttemptOutcome): boolean {
  const [failed, before] = [failedChecks(one), failedChecks(other)];
  return one.tree === other.tree && failed.length > 0 && canonicalJson(failed) === canonicalJson(before);
}

/** A failure that was read from the output tells more than the line that sums it up, which may hold a time. */
const failedChecks = ({ checks }: AttemptOutcome): Json[] =>
  checks
    .filter(({ must, status }) => must && status !== "passed")
    .map(({ name, status, message, failures }) => {
      const read = failures.map(({ category, code, file, line, message }) => ({
        category,
        code: code ?? null,
        file: file ?? null,
        line: line ?? null,
        message,
      }));
      return { name, status, failures: read.length > 0 ? read : message };
    });
