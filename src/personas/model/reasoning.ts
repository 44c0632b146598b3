import type { CallOptions } from "./sdk-types.ts";

/** How long a model may think before it answers. */
export const reasoningLevels = ["none", "low", "medium", "high", "max"] as const;
export type Reasoning = (typeof reasoningLevels)[number];

/** Output tokens for thoughts, on top of those for the answer: reserved, and never exceeded. */
const thoughtTokens: Readonly<Record<Reasoning, number>> = {
  none: 0,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  max: 24_576,
};

/** Claude models that take a number of tokens and no level. The package would choose a share of the model's whole output. */
const takesBudget = /^anthropic\/.*claude-(?:3|instant|(?:sonnet|opus|haiku)-4(?:-[0-5](?!\d)|-20|@|$))/;

type ReasoningOptions = Pick<CallOptions, "reasoning" | "maxOutputTokens" | "providerOptions">;

/** `model`: "anthropic/claude-sonnet-4-5". The packages translate a level into their provider's own setting. */
export function reasoningOptions(
  model: string,
  level: Reasoning | undefined,
  maxOutputTokens: number,
): ReasoningOptions {
  if (level === undefined) return { maxOutputTokens };
  const budgetTokens = thoughtTokens[level];
  if (level !== "none" && takesBudget.test(model)) {
    // The package adds the budget to the limit of the answer.
    return {
      maxOutputTokens,
      providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens } } },
    };
  }
  return { reasoning: level, maxOutputTokens: maxOutputTokens + budgetTokens };
}

/** The part of a call's output limit that its thoughts may take. */
export const roomForThoughts = ({ reasoning }: Pick<CallOptions, "reasoning">): number =>
  reasoningLevels.some((level) => level === reasoning) ? thoughtTokens[reasoning as Reasoning] : 0;
