import type { SavingKind } from "./ledger.ts";
import type { TokenUsage } from "./usage.ts";

export interface SavedTotals {
  readonly tokens: number;
  /** Null when the price of some of it is not known. */
  readonly usd: number | null;
}

/** The usage, and the savings. */
export interface UsageTotals extends TokenUsage {
  /** Ended ones; failed ones are part of it. */
  readonly calls: number;
  readonly failedCalls: number;
  /** Of what providers reported; null when the price of some of it is not known. */
  readonly costUsd: number | null;
  /** As `costUsd`, of the calls whose price is known. */
  readonly knownCostUsd: number;
  readonly unpricedCalls: number;
  /** Calls whose tokens were not reported: their reservation is in `estimatedTokens`. */
  readonly unreportedCalls: number;
  /** Of the simulated model: part of the numbers above, and its dollars are invented. */
  readonly simulatedCalls: number;
  readonly simulatedUsd: number;
  readonly simulatedUnreportedCalls: number;
  /** Of calls whose answer was lost: perhaps billed, counted against budgets, not part of the numbers above. */
  readonly estimatedTokens: number;
  readonly estimatedUsd: number;
  /** Of the simulated model, which bills nothing: part of the two above. */
  readonly simulatedEstimatedTokens: number;
  readonly simulatedEstimatedUsd: number;
  /** Never sent or never generated. Tokens from a cache are paid for, only less: they are in `saved.cache` alone. */
  readonly savedTokens: number;
  readonly savedUsd: number | null;
  readonly saved: Readonly<Record<SavingKind, SavedTotals>>;
  /** Versions of the price tables that priced the calls. */
  readonly prices: readonly string[];
}

export interface UsageRow extends UsageTotals {
  /** The persona, phase, model, session id or UTC day. */
  readonly name: string;
}
