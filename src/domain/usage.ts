import type { Amount, BudgetUnit, Money } from "./budget.ts";
import type { OutputRange } from "./fit-output.ts";

/**
 * The tokens of one model call. Cached and cache-write tokens are part of the input, reasoning tokens of the
 * output.
 */
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

/** More than any call takes. A larger number is a provider's mistake, and sums must stay exact. */
export const mostTokens = 1_000_000_000;

/** Cached and reasoning tokens are included and not counted again. */
export function totalTokens({ inputTokens, outputTokens }: TokenUsage): number {
  return inputTokens + outputTokens;
}

/**
 * A provider's report as numbers that can be added. Some providers report parts separately from their whole, and
 * then the parts are added to it. This is visible from the provider's own sum or, without a matching sum, from
 * parts larger than their whole. Null if a number is no count: then there is no report.
 */
export function normalizeUsage(usage: TokenUsage, sum?: number): TokenUsage | null {
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, reasoningTokens } = usage;
  const counts = [inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, reasoningTokens];
  if (!counts.every(isCount)) return null;
  const cache = cachedInputTokens + cacheWriteTokens;
  const inputs = cache > inputTokens ? [inputTokens + cache] : [inputTokens, inputTokens + cache];
  const outputs = [outputTokens, outputTokens + reasoningTokens];
  const wholes = inputs.flatMap((input) => outputs.map((output) => ({ input, output })));
  const whole =
    wholes.find(({ input, output }) => input + output === sum) ??
    withRest(inputs[0] ?? inputTokens, outputs[reasoningTokens > outputTokens ? 1 : 0] ?? outputTokens, sum);
  if (![whole.input, whole.output].every(isCount)) return null;
  return {
    inputTokens: whole.input,
    cachedInputTokens,
    cacheWriteTokens,
    outputTokens: whole.output,
    // Some providers round it up.
    reasoningTokens: Math.min(reasoningTokens, whole.output),
  };
}

const isCount = (count: number): boolean => Number.isSafeInteger(count) && count >= 0 && count <= mostTokens;

/** Some providers count reasoning only in the sum, so an unexplained remainder was output. */
function withRest(input: number, output: number, sum: number | undefined): { input: number; output: number } {
  const rest = Number.isSafeInteger(sum) ? (sum ?? 0) - input - output : 0;
  return { input, output: output + Math.max(0, rest) };
}

/**
 * The usage and cost of a call. `costMicroUsd: null`: the price is unknown. `usage: null`: the provider reported
 * none.
 */
export interface Spent {
  readonly usage: TokenUsage | null;
  readonly costMicroUsd: Money | null;
  /** The saving from the provider's cache; negative if the cache cost more than it saved. */
  readonly cacheSavedMicroUsd?: Money | null;
}

/** The maximum cost of a call, and how to read its cost from its outcome. */
export interface Spend<T> {
  readonly model: string;
  /** The probable maximum, reserved before the call and counted if the answer is lost. */
  readonly asked: Amount;
  /** The hard maximum, which replaces `asked` wherever a limit applies. */
  readonly atMost?: Amount;
  /** The output of `atMost` may shrink within this. The effect then gets the allowed output. */
  readonly output?: OutputRange;
  /** Version of the price table. */
  readonly prices?: string;
  /** Set if no maximum is known. */
  readonly undeclared?: readonly BudgetUnit[];
  /** A promise if another process knows it. */
  readonly spent: (outcome: { readonly result: T } | { readonly error: unknown }) => Spent | Promise<Spent>;
}
