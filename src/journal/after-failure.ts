import { MaestroError } from "../domain/errors.ts";
import type { Failure } from "../domain/failure.ts";
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
  const errorSays = MaestroError.is(error) ? error.next : "retry";
  if (errorSays === "fail" || errorSays === "park") return { kind: "stop" };
  const continues = (failure.outage || inStep) && !mended;
  // Once a person has mended the cause, the steps recorded before it still serve and are not paid again.
  const help = { kind: "help", ...(continues && { continues }) } as const;
  // A wrong key stays wrong: neither another attempt nor another round could mend it.
  if (!failure.recoverable && !mended && errorSays !== "next-round") return help;
  // The breaker of a named service keeps its rate limit: all sessions share it, and a person can see and reset it.
  const isShared = failure.category === "RATE_LIMIT" && failure.dependency !== undefined;
  const toldMs = isShared ? 0 : (failure.retryAfterMs ?? 0);
  const attempt = decideAfterAttempt(attempts, attemptsFailed, errorSays !== "next-round", random);
  if (attempt.kind === "retry") {
    const waitMs = mended ? 0 : Math.max(attempt.delayMs, toldMs);
    return { kind: "attempt", wait: waitOf(waitMs, now), continues };
  }
  const round = decideAfterRound(rounds, roundsUsed);
  if (round.kind === "retry")
    return { kind: "round", wait: waitOf(Math.max(round.delayMs, toldMs), now), continues };
  return help;
}

function waitOf(waitMs: number, now: number): Wait {
  return { notBefore: now + waitMs, waitMs };
}
