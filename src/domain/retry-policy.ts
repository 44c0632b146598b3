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
 * Doubles from the base up to the maximum. `random` (0 to 1) adds up to half of it, so that personas that failed
 * together do not retry together. It only adds, because no wait may be shorter than the base.
 */
export function delayMs(policy: RetryPolicy, failedAttempts: number, random: number): number {
  const jitteredMs = Math.round(roundDelayMs(policy, failedAttempts) * (1 + random / 2));
  return Math.min(policy.maxDelayMs, jitteredMs);
}

/** The rounds of one session never collide, so no jitter: 5, 10, 20 s. */
export function roundDelayMs(policy: RetryPolicy, failedRounds: number): number {
  // Capped, because 0 * Infinity is not a delay.
  const doublings = Math.min(Math.max(failedRounds - 1, 0), 50);
  return Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** doublings);
}

/**
 * The rest of a recorded wait: never longer than the wait itself, even if the clock was set back. `restedMs`: the
 * session's total rest; the part since the wait was recorded counts as waited.
 */
export const remainingWaitMs = (
  wait: { readonly notBefore: number; readonly waitMs: number; readonly restedMs?: number | undefined },
  now: number,
  restedMs = 0,
): number => {
  const waitedMs = Math.max(0, restedMs - (wait.restedMs ?? 0));
  return Math.max(0, Math.min(wait.notBefore - now, wait.waitMs - waitedMs));
};

/** No service means more than a day. A larger number is a mistake or an attack. */
const maxRetryAfterMs = 24 * 60 * 60 * 1000;

export type ReadHeader = (name: string) => string | undefined;

/** Recognizes rate limits. GitHub and others send them with the status for forbidden requests. */
export function isRateLimit(status: number | undefined, header: ReadHeader): boolean {
  if (status !== 403) return status === 429;
  return header("x-ratelimit-remaining") === "0" || header("retry-after") !== undefined;
}

/** `retry-after-ms`, then `retry-after` as seconds or a date, then the time at which an exhausted limit resets. */
export function readRetryAfter(header: ReadHeader, now: number): number | undefined {
  const ms = Number.parseFloat(header("retry-after-ms") ?? "");
  if (Number.isFinite(ms)) return boundRetryAfter(ms);
  const after = header("retry-after")?.trim() ?? "";
  if (/^\d{1,15}(?:\.\d+)?$/.test(after)) return boundRetryAfter(Number(after) * 1000);
  const at = after === "" ? Number.NaN : Date.parse(after);
  if (Number.isFinite(at)) return untilMoment(at, header, now);
  const reset = header("x-ratelimit-reset") ?? "";
  const isUsedUp = header("x-ratelimit-remaining") === "0" && /^\d{9,11}$/.test(reset);
  return isUsedUp ? untilMoment(Number(reset) * 1000, header, now) : undefined;
}

/** Measured by the server's own clock if it sends its time, because ours may be wrong. */
function untilMoment(at: number, header: ReadHeader, now: number): number {
  const theirs = Date.parse(header("date") ?? "");
  return boundRetryAfter(at - (Number.isFinite(theirs) ? theirs : now));
}

export const boundRetryAfter = (ms: number): number => Math.ceil(Math.min(Math.max(ms, 0), maxRetryAfterMs));
