import type { SavingKind } from "./ledger.ts";
import type { TokenUsage } from "./usage.ts";

export interface SavedTotals {
  readonly tokens: number;
  /** Null if part of the price is unknown. */
  readonly usd: number | null;
}

/** Usage and savings. */
export interface UsageTotals extends TokenUsage {
  /** Ended calls, including failed ones. */
  readonly calls: number;
  readonly failedCalls: number;
  /** The cost of reported usage; null if part of the price is unknown. */
  readonly costUsd: number | null;
  /** The cost of reported usage whose price is known. */
  readonly knownCostUsd: number;
  readonly unpricedCalls: number;
  /** Calls whose tokens were not reported. Their reservations are in `estimatedTokens`. */
  readonly unreportedCalls: number;
  /** Calls of the simulated model, which are included in the numbers above. Their dollars are invented. */
  readonly simulatedCalls: number;
  readonly simulatedUsd: number;
  readonly simulatedUnreportedCalls: number;
  /** Of calls whose answer was lost: perhaps billed, counted against budgets, not part of the numbers above. */
  readonly estimatedTokens: number;
  readonly estimatedUsd: number;
  /** Of the simulated model, which bills nothing: part of the two above. */
  readonly simulatedEstimatedTokens: number;
  readonly simulatedEstimatedUsd: number;
  /** Reserved by calls that have not ended. */
  readonly reservedUsd: number;
  /** Of calls that were not made again: recorded ones after a resume, and those that a fork took over. */
  readonly savedTokens: number;
  readonly savedUsd: number | null;
  /** Of calls that were made: what input from the provider's cache cost less. Negative if writing the cache cost more. */
  readonly cacheDiscountUsd: number | null;
  readonly saved: Readonly<Record<SavingKind, SavedTotals>>;
  /** Versions of the price tables. */
  readonly prices: readonly string[];
}

export interface UsageRow extends UsageTotals {
  /** The persona, phase, model, session id or UTC day. */
  readonly name: string;
}
