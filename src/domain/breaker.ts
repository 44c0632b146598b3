import { StateCorrupt } from "./errors.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";

export interface BreakerContext {
  readonly now: number;
  /** Unique to one call, so that two calls of one process are never both the probe. */
  readonly owner: string;
  /** The call was admitted as a probe, even if another call probes now. */
  readonly isProbe?: boolean | undefined;
  readonly policy: BreakerPolicy;
}

/**
 * Save the record whenever it is a different object, even after a refusal: a time that is clamped again at each
 * call never comes.
 */
export type Admission =
  | { readonly kind: "allowed" | "probe"; readonly record: BreakerRecord }
  | { readonly kind: "refused"; readonly retryAt: number; readonly record: BreakerRecord };

/** The outcome of a call for the dependency's breaker. A wrong answer is a success, because the dependency answered. */
export type CallOutcome =
  | { readonly kind: "success" }
  | { readonly kind: "outage" }
  | { readonly kind: "rate-limit"; readonly retryAfterMs: number | undefined }
  /** It was abandoned before it could tell anything. */
  | { readonly kind: "unknown" };

/** For a service that does not say how long to wait. Doubles with each consecutive rate limit. */
const firstRateLimitMs = 1000;
const longestUnsaidMs = 60_000;
/** A longer wait is requested again when this one is over, so a wrong clock costs an hour at most. */
const maxRateLimitMs = 3_600_000;
const ticketAfterFailedProbes = 3;

/** If the prober asks again, it renews its turn, because a call may take longer than a deadline. */
export function admit(given: BreakerRecord, context: BreakerContext): Admission {
  const record = clampTimes(given, context);
  const { now, owner, policy } = context;
  const { state } = record;
  const deadline = now + policy.probeDeadlineMs;
  if (state.kind === "half-open" && state.owner === owner)
    return { kind: "probe", record: { ...record, state: { ...state, deadline } } };
  const freeAt = state.kind === "closed" ? now : state.kind === "open" ? state.probeAt : state.deadline;
  const retryAt = Math.max(freeAt, record.notBefore ?? now);
  if (retryAt > now) return { kind: "refused", retryAt, record };
  if (state.kind === "closed") {
    // The wait is over, so remove it: a closed breaker without it is passed without a write.
    return { kind: "allowed", record: record.notBefore === null ? record : { ...record, notBefore: null } };
  }
  // An overdue probe was killed with its process, which says nothing about the dependency, so it does not count.
  const { openedAt, failedProbes } = state;
  return {
    kind: "probe",
    record: {
      ...record,
      state: { kind: "half-open", openedAt, owner, deadline, failedProbes },
      notBefore: null,
    },
  };
}

export function onOutcome(
  record: BreakerRecord,
  outcome: CallOutcome,
  context: BreakerContext,
): BreakerRecord {
  switch (outcome.kind) {
    case "success":
      return onSuccess(record, context);
    case "outage":
      return onOutage(record, context);
    case "rate-limit":
      return onRateLimit(record, outcome.retryAfterMs, context.now, context.owner);
    case "unknown":
      return giveBack(record, context.now, context.owner);
  }
}

/** Outages of calls admitted before it opened, and of probes that lost their turn, change nothing. */
export function onOutage(record: BreakerRecord, { now, owner, policy }: BreakerContext): BreakerRecord {
  const { state } = record;
  if (state.kind === "closed" && state.failures + 1 < policy.threshold) {
    return { ...record, state: { kind: "closed", failures: state.failures + 1 } };
  }
  if (state.kind === "open" || (state.kind === "half-open" && state.owner !== owner)) return record;
  const failedProbes = state.kind === "half-open" ? state.failedProbes + 1 : 0;
  const openedAt = state.kind === "half-open" ? state.openedAt : now;
  return { ...record, state: { kind: "open", openedAt, probeAt: now + policy.cooldownMs, failedProbes } };
}

/** A probe's success closes the breaker even if another call now has the turn, because the service answers. */
export function onSuccess(
  record: BreakerRecord,
  { owner, isProbe = false }: Pick<BreakerContext, "owner" | "isProbe">,
): BreakerRecord {
  const { state, notBefore, rateLimits } = record;
  const closes =
    state.kind === "closed"
      ? state.failures > 0
      : isProbe || (state.kind === "half-open" && state.owner === owner);
  if (!closes && rateLimits === undefined) return record;
  return { state: closes ? { kind: "closed", failures: 0 } : state, notBefore };
}

/** A rate limit is neither an outage nor a success. A prober that meets one returns its turn. */
export function onRateLimit(
  record: BreakerRecord,
  retryAfterMs: number | undefined,
  now: number,
  owner?: string,
): BreakerRecord {
  // Calls in flight together fail together, which is one rate limit.
  const isNews = record.notBefore === null || record.notBefore <= now;
  const rateLimits = Math.max((record.rateLimits ?? 0) + (isNews ? 1 : 0), 1);
  // "At once", or a past time, is ignored: following it would mean calls without a pause.
  const isSaid = retryAfterMs !== undefined && retryAfterMs >= firstRateLimitMs;
  const waitMs = Math.min(Math.ceil(isSaid ? retryAfterMs : unsaidMs(rateLimits)), maxRateLimitMs);
  const notBefore = Math.max(record.notBefore ?? 0, now + waitMs);
  return { ...giveBack(record, now, owner), notBefore, rateLimits };
}

const unsaidMs = (rateLimits: number): number =>
  Math.min(firstRateLimitMs * 2 ** Math.min(rateLimits - 1, 30), longestUnsaidMs);

/** Returns the turn to probe, if the call had it. */
function giveBack(record: BreakerRecord, now: number, owner: string | undefined): BreakerRecord {
  const { state } = record;
  if (state.kind !== "half-open" || state.owner !== owner) return record;
  const { openedAt, failedProbes } = state;
  return { ...record, state: { kind: "open", openedAt, probeAt: now, failedProbes } };
}

export const raisesTicket = ({ state }: BreakerRecord): boolean =>
  state.kind !== "closed" && state.failedProbes >= ticketAfterFailedProbes;

/** Whether this failed probe is one of the first, which needs no ticket, so no attempt ends. */
export const isEarlyProbe = ({ state }: BreakerRecord): boolean =>
  state.kind === "half-open" && state.failedProbes + 1 < ticketAfterFailedProbes;

/** No time may be further ahead than it could have been set, because the clock may have been set back since. */
function clampTimes(record: BreakerRecord, { now, policy }: BreakerContext): BreakerRecord {
  const state = clampState(record.state, now, policy);
  const notBefore = record.notBefore === null ? null : Math.min(record.notBefore, now + maxRateLimitMs);
  return state === record.state && notBefore === record.notBefore ? record : { ...record, state, notBefore };
}

function clampState(state: BreakerState, now: number, policy: BreakerPolicy): BreakerState {
  if (state.kind === "closed") return state;
  const openedAt = Math.min(state.openedAt, now);
  if (state.kind === "open") {
    const probeAt = Math.min(state.probeAt, now + policy.cooldownMs);
    return openedAt === state.openedAt && probeAt === state.probeAt ? state : { ...state, openedAt, probeAt };
  }
  const deadline = Math.min(state.deadline, now + policy.probeDeadlineMs);
  return openedAt === state.openedAt && deadline === state.deadline
    ? state
    : { ...state, openedAt, deadline };
}

export type BreakerState =
  | { readonly kind: "closed"; readonly failures: number }
  | {
      readonly kind: "open";
      readonly openedAt: number;
      readonly probeAt: number;
      readonly failedProbes: number;
    }
  | {
      readonly kind: "half-open";
      readonly openedAt: number;
      readonly owner: string;
      readonly deadline: number;
      readonly failedProbes: number;
    };

/** One dependency's breaker. `notBefore` comes from rate limits, which are not outages. */
export interface BreakerRecord {
  readonly state: BreakerState;
  readonly notBefore: number | null;
  /** Consecutive rate limits, so that a service that does not say how long to wait is called less and less often. */
  readonly rateLimits?: number;
}

export interface BreakerPolicy {
  readonly threshold: number;
  readonly cooldownMs: number;
  readonly probeDeadlineMs: number;
}

export const breakerPolicy: BreakerPolicy = { threshold: 5, cooldownMs: 300_000, probeDeadlineMs: 60_000 };

export const newBreaker: BreakerRecord = { state: { kind: "closed", failures: 0 }, notBefore: null };

/** Restored state is checked, never cast: an unreadable breaker must not decide anything. */
export function parseBreaker(json: Json): BreakerRecord {
  const record = objectAt(json, "the breaker");
  const notBefore = record.notBefore === null ? null : wholeNumber(record, "notBefore");
  const rateLimits = record.rateLimits === undefined ? {} : { rateLimits: wholeNumber(record, "rateLimits") };
  return { state: parseState(objectAt(record.state, "the breaker's state")), notBefore, ...rateLimits };
}

function parseState(state: JsonObject): BreakerState {
  if (state.kind === "closed") return { kind: "closed", failures: wholeNumber(state, "failures") };
  if (state.kind !== "open" && state.kind !== "half-open") throw corrupt("its kind is not known", state);
  const openedAt = wholeNumber(state, "openedAt");
  const failedProbes = wholeNumber(state, "failedProbes");
  if (state.kind === "open")
    return { kind: "open", openedAt, probeAt: wholeNumber(state, "probeAt"), failedProbes };
  if (typeof state.owner !== "string" || state.owner === "") throw corrupt("its probe has no owner", state);
  return {
    kind: "half-open",
    openedAt,
    owner: state.owner,
    deadline: wholeNumber(state, "deadline"),
    failedProbes,
  };
}

function objectAt(json: Json | undefined, what: string): JsonObject {
  if (!isJsonObject(json)) throw corrupt(`${what} is not an object`, json);
  return json;
}

function wholeNumber(source: JsonObject, key: string): number {
  const value = source[key];
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw corrupt(`${key} is not a whole number`, source);
  return value as number;
}

const corrupt = (why: string, found: Json | undefined): StateCorrupt =>
  new StateCorrupt(`a stored breaker is damaged: ${why}`, {
    advice: "Reset the breaker.",
    details: { why, found },
  });
