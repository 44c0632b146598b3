import type { Amount, BudgetLevelName, Money } from "./budget.ts";
import { InputInvalid } from "./errors.ts";
import {
  mostTokens,
  normalizeUsage,
  noUsage,
  type Spent,
  type TokenUsage,
  tokenCounts,
  totalTokens,
} from "./usage.ts";

/**
 * `open`: reserved, and the call has not ended. `estimated`: its usage stays unknown, so the asked amount counts as
 * used.
 */
export type CallStatus = "open" | "settled" | "failed" | "estimated";

/** Identifies a reservation. Its text belongs to the store. */
export type ReservationId = string & { readonly names: "reservation" };

/** The end of a call, for the ledger. */
export interface CallEnding {
  readonly status: Exclude<CallStatus, "open">;
  readonly failed: boolean;
  readonly usage: TokenUsage | null;
  readonly costMicroUsd: Money | null;
}

/** A call whose end is recorded together with its result. */
export interface Settlement {
  readonly reservation: ReservationId;
  readonly spent: Spent;
  readonly failed: boolean;
  /** The call of an earlier driver, which was estimated: what it took was found afterwards. */
  readonly found?: true;
}

export const savingKinds = ["resume", "reuse", "cache", "patch"] as const;
/**
 * `resume`: a recorded call was replayed. `reuse`: a fork reused it. `cache`: the provider read its input from a
 * cache, which saves money but no tokens. `patch`: a file was edited instead of rewritten.
 */
export type SavingKind = (typeof savingKinds)[number];

export interface SavedAmount {
  readonly kind: SavingKind;
  readonly phase: string;
  readonly persona: string;
  readonly model: string;
  readonly tokens: number;
  readonly microUsd: Money | null;
}

/** An amount, or the recorded calls (steps of this session, by seq) that did not have to be repeated. */
export type Saving = SavedAmount | { readonly kind: SavingKind; readonly steps: readonly number[] };

/**
 * Sums of ended calls. Estimated dollars and tokens are separate from reported ones. `costMicroUsd`: of calls with a
 * known price. `unreportedCalls`: their tokens were not reported.
 */
export const usageSums = [
  "calls",
  "failedCalls",
  ...tokenCounts,
  "costMicroUsd",
  "unpricedCalls",
  "estimatedTokens",
  "estimatedMicroUsd",
  "unreportedCalls",
] as const;
export type UsageSums = Readonly<Record<(typeof usageSums)[number], number>>;

/** More than any call costs (a million dollars). See `mostTokens` in usage.ts. */
const mostMicroUsd = 1_000_000_000_000;

/** One larger call would make every later sum inexact. */
export function checkAsked({ tokens, microUsd }: Amount): void {
  if (tokens <= mostTokens && (microUsd ?? 0) <= mostMicroUsd) return;
  throw new InputInvalid(`A call cannot reserve ${tokens} tokens and ${microUsd} micro-dollars.`, {
    advice: "Set a smaller maxOutputTokens.",
    details: { tokens: String(tokens), microUsd: String(microUsd) },
  });
}

/** A call whose driver crashed. It may or may not have been made. */
export const lostCall: CallEnding = { status: "estimated", failed: false, usage: null, costMicroUsd: null };

export function endingOf({ spent, failed }: Omit<Settlement, "reservation">): CallEnding {
  const usage = spent.usage && normalizeUsage(spent.usage);
  const status = usage === null ? "estimated" : failed ? "failed" : "settled";
  return { status, failed, usage, costMicroUsd: isCost(spent.costMicroUsd) ? spent.costMicroUsd : null };
}

/** The amount of an ended call in every budget. An unknown amount counts as reserved. */
export function countedAs({ usage, costMicroUsd }: CallEnding, asked: Amount): Amount {
  return {
    tokens: usage === null ? asked.tokens : totalTokens(usage),
    microUsd: costMicroUsd ?? asked.microUsd,
  };
}

/** The amount of an ended call in reports. Its tokens and dollars together are those of `countedAs`. */
export function sumsOf(ending: CallEnding, asked: Amount): UsageSums {
  const { usage, costMicroUsd, failed } = ending;
  // If the tokens were reported, the reserved dollars are only a limit, not a price.
  const isUnpriced = costMicroUsd === null && (asked.microUsd === null || usage !== null);
  return {
    ...(usage ?? noUsage),
    calls: 1,
    failedCalls: failed ? 1 : 0,
    costMicroUsd: costMicroUsd ?? 0,
    unpricedCalls: isUnpriced ? 1 : 0,
    unreportedCalls: usage === null ? 1 : 0,
    estimatedTokens: usage === null ? asked.tokens : 0,
    estimatedMicroUsd: costMicroUsd === null ? (asked.microUsd ?? 0) : 0,
  };
}

/** The persona, phase, session and day of a call. */
export interface CallPlace {
  readonly persona: string;
  readonly phase: string;
  readonly session: string;
  readonly day: string;
}

export function nameAt(level: BudgetLevelName, place: CallPlace): string {
  return place[level];
}

/** The day of budgets and reports, which is the same everywhere. */
export function utcDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function isCost(value: Money | null): value is Money {
  return value !== null && Number.isSafeInteger(value) && value >= 0 && value <= mostMicroUsd;
}
