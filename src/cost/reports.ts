import { microsToUsd } from "../domain/budget.ts";
import { type SavingKind, savingKinds } from "../domain/ledger.ts";
import type { TokenUsage } from "../domain/usage.ts";
import type { Reports, SavedSum, UsageGroupSums, UsageQuery } from "../store/reports.ts";

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
  /** Of calls whose answer was lost: perhaps billed, counted against budgets, not part of the numbers above. */
  readonly estimatedTokens: number;
  readonly estimatedUsd: number;
  /** Never sent or never generated. Tokens from a cache are paid for, only less: they are in `saved.cache` alone. */
  readonly savedTokens: number;
  readonly savedUsd: number | null;
  readonly saved: Readonly<Record<SavingKind, SavedTotals>>;
}

export interface UsageRow extends UsageTotals {
  /** The persona, phase, model, session id or UTC day. */
  readonly name: string;
}

export interface UsageReport {
  readonly by: UsageQuery["by"];
  readonly total: UsageTotals;
  /** The largest, at most 1,000 unless more were asked for; days in order. */
  readonly rows: readonly UsageRow[];
}

/** Whose usage it is when the session was deleted. */
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
  const { name: _, costMicroUsd, estimatedMicroUsd, simulatedMicroUsd, saved: kinds, ...counts } = sums;
  const knownCostUsd = microsToUsd(costMicroUsd);
  const isPriced = kinds.every(({ unpriced }) => unpriced === 0);
  return {
    ...counts,
    costUsd: counts.unpricedCalls === 0 ? knownCostUsd : null,
    knownCostUsd,
    simulatedUsd: microsToUsd(simulatedMicroUsd),
    estimatedUsd: microsToUsd(estimatedMicroUsd),
    savedTokens: sum(kinds.filter(({ kind }) => kind !== "cache").map(({ tokens }) => tokens)),
    savedUsd: isPriced ? microsToUsd(sum(kinds.map(({ microUsd }) => microUsd))) : null,
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
