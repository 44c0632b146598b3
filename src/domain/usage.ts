import type { Amount, Money } from "./budget.ts";

/** What one model call took. Cached and cache-write tokens are part of the input, reasoning is part of the output. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

export const noUsage: TokenUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

/** What a call came to. `costMicroUsd: null` means that the price is not known, `usage: null` that nobody reported it. */
export interface Spent {
  readonly usage: TokenUsage | null;
  readonly costMicroUsd: Money | null;
}

/** What a call may cost at most, and how to read what it did cost from its outcome. */
export interface Spend<T> {
  readonly model: string;
  /** Counted input and allowed output: reserved before the call. */
  readonly asked: Amount;
  readonly spent: (outcome: { readonly result: T } | { readonly error: unknown }) => Spent;
}
