import type { Amount, Money } from "../domain/budget.ts";
import { normalizeUsage, noUsage, type Spent, type TokenUsage } from "../domain/usage.ts";
import type { PricePerMillion } from "./price-per-million.ts";

/** The price of one model's tokens. */
export interface ModelPrice {
  /** The price is invented, and so is the cost. */
  readonly simulated: boolean;
  /** Version of the price table. */
  readonly table: string;
  /** Whole micro-dollars, rounded up, so that a bill is never smaller than its ledger. */
  readonly cost: (usage: TokenUsage) => Money;
}

export function priceFromTable(price: PricePerMillion, table: string, simulated = false): ModelPrice {
  const { input, cached = input, cacheWrite = input, output, reasoning = output } = price;
  return {
    simulated,
    table,
    // Cached, written and reasoning tokens are part of the input and output, so each token is priced once.
    cost: (usage) =>
      roundUp(
        (usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens) * input +
          usage.cachedInputTokens * cached +
          usage.cacheWriteTokens * cacheWrite +
          (usage.outputTokens - usage.reasoningTokens) * output +
          usage.reasoningTokens * reasoning,
      ),
  };
}

/** The cost to reserve: every counted token at its highest rate. A price of null is unknown. */
export function worstCase(price: ModelPrice | null, inputTokens: number, maxOutputTokens: number): Amount {
  const tokens = inputTokens + maxOutputTokens;
  if (price === null) return { tokens, microUsd: null };
  const plain: TokenUsage = { ...noUsage, inputTokens, outputTokens: maxOutputTokens };
  const cases = [
    plain,
    { ...plain, cacheWriteTokens: inputTokens },
    { ...plain, reasoningTokens: maxOutputTokens },
    { ...plain, cacheWriteTokens: inputTokens, reasoningTokens: maxOutputTokens },
  ];
  return { tokens, microUsd: Math.max(...cases.map(price.cost)) };
}

/** The cost of a call by the reported tokens; null when the provider reported none. */
export function spentOn(price: ModelPrice | null, reported: TokenUsage | null): Spent {
  const usage = reported && normalizeUsage(reported);
  if (usage === null) return { usage: null, costMicroUsd: null };
  if (price === null) return { usage, costMicroUsd: null };
  const costMicroUsd = price.cost(usage);
  const withoutCache = price.cost({ ...usage, cachedInputTokens: 0, cacheWriteTokens: 0 });
  return { usage, costMicroUsd, cacheSavedMicroUsd: withoutCache - costMicroUsd };
}

/** Removes rounding errors of binary fractions: 4500.000000000001 is 4500. */
export function roundUp(microUsd: number): Money {
  return Math.ceil(Number(microUsd.toPrecision(12)));
}
