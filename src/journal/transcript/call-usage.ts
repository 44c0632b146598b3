import { microsToUsd } from "../../domain/budget.ts";
import { isJsonObject, type Json } from "../../domain/json.ts";
import { sumsOf } from "../../domain/ledger.ts";
import { normalizeUsage, type TokenUsage } from "../../domain/usage.ts";
import type { ItemUsage } from "./item.ts";
import type { PaidCall } from "./ports.ts";

/** The usage of a call in the ledger. Undefined while it is open. */
export function usageOfCall(call: PaidCall): ItemUsage | undefined {
  if (call.status === "open") return undefined;
  const sums = sumsOf(call, call.asked);
  return {
    ...tokensOf(sums),
    costUsd: sums.unpricedCalls > 0 ? null : microsToUsd(sums.costMicroUsd),
    estimatedTokens: sums.estimatedTokens,
    estimatedUsd: microsToUsd(sums.estimatedMicroUsd),
  };
}

/** The usage as the answer reports it, for a call that this session did not pay for. */
export function usageOfAnswer(reported: Json | undefined): ItemUsage | null {
  if (!isJsonObject(reported)) return null;
  const usage = normalizeUsage({
    inputTokens: count(reported["inputTokens"], "total"),
    cachedInputTokens: count(reported["inputTokens"], "cacheRead"),
    cacheWriteTokens: count(reported["inputTokens"], "cacheWrite"),
    outputTokens: count(reported["outputTokens"], "total"),
    reasoningTokens: count(reported["outputTokens"], "reasoning"),
  });
  return usage && { ...tokensOf(usage), costUsd: null, estimatedTokens: 0, estimatedUsd: 0 };
}

function tokensOf({
  inputTokens,
  cachedInputTokens,
  cacheWriteTokens,
  outputTokens,
  reasoningTokens,
}: TokenUsage) {
  return {
    inputTokens,
    cachedInputTokens,
    cacheWriteTokens,
    outputTokens,
    reasoningTokens,
    cacheShare: inputTokens === 0 ? null : cachedInputTokens / inputTokens,
  };
}

function count(counts: Json | undefined, name: string): number {
  const value = isJsonObject(counts) ? counts[name] : undefined;
  return typeof value === "number" ? value : 0;
}
