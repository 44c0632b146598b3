import { StateCorrupt } from "./errors.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";

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

/** One dependency's breaker. `notBefore` comes from rate limits, which are no outages. */
export interface BreakerRecord {
  readonly state: BreakerState;
  readonly notBefore: number | null;
  /** Rate limits in a row, so that a service that does not say how long to wait is asked less and less often. */
  readonly rateLimits?: number;
}

export interface BreakerPolicy {
  readonly threshold: number;
  readonly cooldownMs: number;
  readonly probeDeadlineMs: number;
}

export const breakerPolicy: BreakerPolicy = { threshold: 5, cooldownMs: 300_000, probeDeadlineMs: 60_000 };

export const newBreaker: BreakerRecord = { state: { kind: "closed", failures: 0 }, notBefore: null };

/** Restored state is checked, never cast: a breaker that cannot be understood must not decide anything. */
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
