import type { Amount, BudgetUnit, Money } from "./budget.ts";
import type { OutputRange } from "./fit-output.ts";

/**
 * The tokens that a model call reports. Cached and cache-write tokens are part of the input, reasoning tokens of the
 * output. Sums, columns of stores, exports and the API derive from this list.
 */
export const tokenCounts = [
  "inputTokens",
  "cachedInputTokens",
  "cacheWriteTokens",
  "outputTokens",
  "reasoningTokens",
] as const;
type TokenCount = (typeof tokenCounts)[number];
export type TokenUsage = Readonly<Record<TokenCount, number>>;

/** One value for each count, such as its column. */
export const forEachCount = <Value>(
  valueOf: (name: TokenCount) => Value,
): Readonly<Record<TokenCount, Value>> =>
  Object.fromEntries(tokenCounts.map((name) => [name, valueOf(name)])) as Record<TokenCount, Value>;

export const noUsage: TokenUsage = forEachCount(() => 0);

/** The name of a count in a store, such as `input_tokens`. */
export const columnOf = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

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
  if (!tokenCounts.every((name) => isCount(usage[name]))) return null;
  const cache = cachedInputTokens + cacheWriteTokens;
  const inputs = cache > inputTokens ? [inputTokens + cache] : [inputTokens, inputTokens + cache];
  const outputs = [outputTokens, outputTokens + reasoningTokens];
  const wholes = inputs.flatMap((input) => outputs.map((output) => ({ input, output })));
  const whole =
    wholes.find(({ input, output }) => input + output === sum) ??
    withRest(inputs[0] ?? inputTokens, outputs[reasoningTokens > outputTokens ? 1 : 0] ?? outputTokens, sum);
  if (![whole.input, whole.output].every(isCount)) return null;
  return {
    ...forEachCount((name) => usage[name]),
    inputTokens: whole.input,
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
