import { canonicalJson } from "../domain/canonical.ts";
import type { CheckResult } from "../domain/contract.ts";
import { MaestroError } from "../domain/errors.ts";
import type { Failure } from "../domain/failure.ts";
import type { Json } from "../domain/json.ts";
import { decideAfterAttempt, decideAfterRound, type RetryPolicy } from "../domain/retry-policy.ts";
import type { AfterFailure, Wait } from "./values.ts";

export interface FailedAttempt {
  readonly error: unknown;
  readonly failure: Failure;
  /** A step threw, not the work around it, so the steps before it can be reused. */
  readonly inStep: boolean;
  /** Failed attempts of this round, including this one. */
  readonly attemptsFailed: number;
  /** Rounds since a person last granted some, including this one. */
  readonly roundsUsed: number;
  /** Healing changed something for the next attempt, which neither waits nor continues the failed one. */
  readonly mended?: boolean;
  /** The attempt (seq of its first row) that failed equally and left equal files: the round is stuck. */
  readonly sameAs?: number | undefined;
  readonly now: number;
  readonly random: number;
}

export interface RetryPolicies {
  readonly attempts: RetryPolicy;
  readonly rounds: RetryPolicy;
}

/** The previous attempt failed equally and left the same files, so its round ended. */
export const isStuck = (next: AfterFailure | undefined): boolean =>
  next !== undefined && "sameAs" in next && next.sameAs !== undefined;

export const stuckText = "the same failure on the same files as before ends the round";

/** Decides both levels of retry. The decision is in the journal before anything acts on it. */
export function decideAfterFailure(failed: FailedAttempt, { attempts, rounds }: RetryPolicies): AfterFailure {
  const { error, failure, inStep, attemptsFailed, roundsUsed, mended = false, now, random } = failed;
  const stuck = failed.sameAs !== undefined && !mended && !failure.outage ? { sameAs: failed.sameAs } : {};
  const errorSays = MaestroError.is(error) ? error.next : "retry";
  if (errorSays === "fail" || errorSays === "park") return { kind: "stop" };
  const continues = (failure.outage || inStep) && !mended;
  // After a person has fixed the cause, the earlier steps are reused and not paid again.
  const help = { kind: "help", ...(continues && { continues }), ...stuck } as const;
  // A wrong key stays wrong: neither another attempt nor another round could help.
  if (!failure.recoverable && !mended && errorSays !== "next-round") return help;
  // The breaker of a named service stores its rate limit: all sessions share it, and a person can see and reset it.
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

/** The end of an attempt, with the fields that show whether the next one made progress. */
export interface AttemptOutcome {
  readonly tree: string | undefined;
  readonly checks: readonly CheckResult[];
}

/** The same checks failed in the same way on the same files, so another attempt of the round would be wasted. */
export function isEqualFailure(one: AttemptOutcome, other: AttemptOutcome): boolean {
  const [failed, before] = [failedChecks(one), failedChecks(other)];
  return one.tree === other.tree && failed.length > 0 && canonicalJson(failed) === canonicalJson(before);
}

/** Failures read from the output are more specific than the summary line, which may contain a time. */
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
