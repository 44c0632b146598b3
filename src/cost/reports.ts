import { microsToUsd } from "../domain/budget.ts";
import { type SavingKind, savingKinds } from "../domain/ledger.ts";
import type { SavedTotals, UsageRow, UsageTotals } from "../domain/usage-totals.ts";
import type { Reports, SavedSum, UsageGroupSums, UsageQuery } from "../store/reports.ts";

export interface UsageReport {
  readonly by: UsageQuery["by"];
  readonly total: UsageTotals;
  /** The largest groups, by default at most 1,000. Days are in order. */
  readonly rows: readonly UsageRow[];
}

/** The name for the usage of deleted sessions. */
export const deletedSessions = "(deleted)";

export async function usageReport(
  { reports }: { readonly reports: Pick<Reports, "usage"> },
  query: UsageQuery,
): Promise<UsageReport> {
  const { total, groups } = await reports.usage(query);
  return {
    by: query.by,
    total: toTotals(total),
    rows: groups.map((sums) => ({ name: sums.name ?? deletedSessions, ...toTotals(sums) })),
  };
}

function toTotals(sums: UsageGroupSums): UsageTotals {
  const { name: _, costMicroUsd, estimatedMicroUsd, saved: kinds, ...others } = sums;
  const { simulatedMicroUsd, simulatedEstimatedMicroUsd, reservedMicroUsd, ...counts } = others;
  const knownCostUsd = microsToUsd(costMicroUsd);
  const notMade = kinds.filter(({ kind }) => kind === "resume" || kind === "reuse");
  const isPriced = notMade.every(({ unpriced }) => unpriced === 0);
  return {
    ...counts,
    costUsd: counts.unpricedCalls === 0 ? knownCostUsd : null,
    knownCostUsd,
    simulatedUsd: microsToUsd(simulatedMicroUsd),
    simulatedEstimatedUsd: microsToUsd(simulatedEstimatedMicroUsd),
    estimatedUsd: microsToUsd(estimatedMicroUsd),
    reservedUsd: microsToUsd(reservedMicroUsd),
    savedTokens: sum(notMade.map(({ tokens }) => tokens)),
    savedUsd: isPriced ? microsToUsd(sum(notMade.map(({ microUsd }) => microUsd))) : null,
    cacheDiscountUsd: toSaved(kinds.find(({ kind }) => kind === "cache")).usd,
    saved: Object.fromEntries(
      savingKinds.map((kind) => [kind, toSaved(kinds.find((saved) => saved.kind === kind))]),
    ) as Record<SavingKind, SavedTotals>,
  };
}

function toSaved(saved: SavedSum | undefined): SavedTotals {
  if (saved === undefined) return { tokens: 0, usd: 0 };
  return { tokens: saved.tokens, usd: saved.unpriced === 0 ? microsToUsd(saved.microUsd) : null };
}

function sum(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
