import { MaestroError } from "./errors.ts";
import type { AfterFailure, Wait } from "./journal.ts";
import { decideAfterAttempt, decideAfterRound, type RetryPolicy } from "./retry-policy.ts";

export interface FailedAttempt {
  readonly error: unknown;
  /** Attempts of this round that failed, this one included. */
  readonly attemptsFailed: number;
  /** Rounds since a person last granted some, this one included. */
  readonly roundsUsed: number;
  readonly now: number;
  readonly random: number;
}

/** Both levels of retry in one place; the answer goes into the journal before anybody acts on it. */
export function decideAfterFailure(
  { error, attemptsFailed, roundsUsed, now, random }: FailedAttempt,
  { attempts, rounds }: { readonly attempts: RetryPolicy; readonly rounds: RetryPolicy },
): AfterFailure {
  const errorSays = MaestroError.is(error) ? error.next : "retry";
  if (errorSays === "fail" || errorSays === "park") return { kind: "stop" };
  const attempt = decideAfterAttempt(attempts, attemptsFailed, errorSays !== "next-round", random);
  if (attempt.kind === "retry") return { kind: "attempt", wait: waitOf(attempt.delayMs, now) };
  const round = decideAfterRound(rounds, roundsUsed);
  if (round.kind === "retry") return { kind: "round", wait: waitOf(round.delayMs, now) };
  return { kind: "help" };
}

function waitOf(waitMs: number, now: number): Wait {
  return { notBefore: now + waitMs, waitMs };
}
