export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
}

/** Level 1: attempts within a round. */
export const attemptPolicy: RetryPolicy = { maxAttempts: 3, baseDelayMs: 1000, maxDelayMs: 5000 };

/** Level 2: rounds. */
export const roundPolicy: RetryPolicy = { maxAttempts: 2, baseDelayMs: 5000, maxDelayMs: 20_000 };

export type RetryDecision =
  | { readonly kind: "retry"; readonly delayMs: number }
  | { readonly kind: "exhausted" };

export const decideAfterAttempt = (
  policy: RetryPolicy,
  failedAttempts: number,
  recoverable: boolean,
  random: number,
): RetryDecision =>
  recoverable && failedAttempts < policy.maxAttempts
    ? { kind: "retry", delayMs: delayMs(policy, failedAttempts, random) }
    : { kind: "exhausted" };

export const decideAfterRound = (policy: RetryPolicy, failedRounds: number): RetryDecision =>
  failedRounds < policy.maxAttempts
    ? { kind: "retry", delayMs: roundDelayMs(policy, failedRounds) }
    : { kind: "exhausted" };

/**
 * Doubles from the base up to the maximum; `random` (0 to 1) adds up to half of it, so that personas that failed
 * together do not come back together. Upward, because the first wait is the base, and nothing may be shorter.
 */
export function delayMs(policy: RetryPolicy, failedAttempts: number, random: number): number {
  const jitteredMs = Math.round(roundDelayMs(policy, failedAttempts) * (1 + random / 2));
  return Math.min(policy.maxDelayMs, jitteredMs);
}

/** Rounds of one session never meet each other, so no jitter: 5, 10, 20 s. */
export function roundDelayMs(policy: RetryPolicy, failedRounds: number): number {
  // Capped, because 0 * Infinity is not a delay.
  const doublings = Math.min(Math.max(failedRounds - 1, 0), 50);
  return Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** doublings);
}

/** What is left of a recorded wait: never longer than it was at first, whatever the clock did since. */
export const remainingWaitMs = (
  wait: { readonly notBefore: number; readonly waitMs: number },
  now: number,
): number => Math.max(0, Math.min(wait.notBefore - now, wait.waitMs));
