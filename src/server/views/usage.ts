import { forEachCount } from "../../domain/usage.ts";
import type { UsageTotals } from "../../index.ts";
import type { Usage } from "../schemas/values.ts";

/** An unknown price stays null. */
export function usageView(totals: UsageTotals | null | undefined): Usage {
  return {
    ...forEachCount((name) => totals?.[name] ?? 0),
    costUsd: totals === null || totals === undefined ? 0 : totals.costUsd,
    calls: totals?.calls ?? 0,
    estimatedTokens: totals?.estimatedTokens ?? 0,
    estimatedUsd: totals?.estimatedUsd ?? 0,
    reservedUsd: totals?.reservedUsd ?? 0,
    savedTokens: totals?.savedTokens ?? 0,
    savedUsd: totals === null || totals === undefined ? 0 : totals.savedUsd,
    cacheDiscountUsd: totals === null || totals === undefined ? 0 : totals.cacheDiscountUsd,
    unpricedCalls: totals?.unpricedCalls ?? 0,
    unreportedCalls: totals?.unreportedCalls ?? 0,
    simulatedCalls: totals?.simulatedCalls ?? 0,
    simulatedUsd: totals?.simulatedUsd ?? 0,
    simulatedUnreportedCalls: totals?.simulatedUnreportedCalls ?? 0,
    simulatedEstimatedTokens: totals?.simulatedEstimatedTokens ?? 0,
    simulatedEstimatedUsd: totals?.simulatedEstimatedUsd ?? 0,
  };
}
