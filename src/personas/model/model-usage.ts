import { readProperty } from "../../domain/bounded-json.ts";
import type { Amount } from "../../domain/budget.ts";
import { normalizeUsage, noUsage, type Spend, type Spent, type TokenUsage } from "../../domain/usage.ts";
import type { Answer } from "./answer.ts";
import type { InputCount } from "./count-input.ts";
import type { Pricing } from "./ports.ts";

/**
 * `null` when the provider did not report it, or reported nonsense. So is an input of less than the call can have, and an
 * output of 0 for an answer that says something: packages put zeros where a server left a count out, and they would pass
 * every budget.
 */
export function readUsage(
  { content, usage }: Pick<Answer, "content" | "usage">,
  leastInput: number,
): TokenUsage | null {
  const { inputTokens, outputTokens, raw } = usage;
  const counts = {
    inputTokens: inputTokens?.total,
    cachedInputTokens: inputTokens?.cacheRead ?? 0,
    cacheWriteTokens: inputTokens?.cacheWrite ?? 0,
    outputTokens: outputTokens?.total,
    reasoningTokens: outputTokens?.reasoning ?? 0,
  };
  const sum = raw?.["total_tokens"] ?? raw?.["totalTokenCount"];
  const known = normalizeUsage(counts as TokenUsage, typeof sum === "number" ? sum : undefined);
  if (known === null || known.inputTokens < leastInput) return null;
  return known.outputTokens === 0 && content.some(saysSomething) ? null : known;
}

const saysSomething = (part: Answer["content"][number]): boolean =>
  (part.type !== "text" && part.type !== "reasoning") || part.text !== "";

export interface AskedSpend {
  readonly model: string;
  readonly input: InputCount;
  readonly maxOutputTokens: number;
  readonly pricing: Pricing | undefined;
  /** The billed usage of a failed call. */
  readonly usageOfFailure: (error: unknown) => TokenUsage | null;
}

export async function spendOf(asked: AskedSpend): Promise<Spend<Answer>> {
  const { model, input, maxOutputTokens, pricing } = asked;
  const priced = (usage: TokenUsage | null): Spent => {
    if (usage === noUsage) return { usage, costMicroUsd: 0 };
    return pricing?.spent(model, usage) ?? { usage, costMicroUsd: null };
  };
  const worstCase = async (inputTokens: number): Promise<Amount> =>
    (await pricing?.worstCase(model, inputTokens, maxOutputTokens)) ?? {
      tokens: inputTokens + maxOutputTokens,
      microUsd: null,
    };
  return {
    model,
    asked: await worstCase(input.typical),
    atMost: await worstCase(input.most),
    spent: (outcome) =>
      priced(
        "result" in outcome ? readUsage(outcome.result, input.least) : asked.usageOfFailure(outcome.error),
      ),
  };
}

/** Errors before anything was sent. */
const neverSent: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EAI_FAIL"]);

/** A server, or a gateway before it, that fails in the middle may have generated; one that is too busy has not begun. */
const isRefusal = (status: number): boolean => status < 500 || status === 503 || status === 529;

/**
 * Nothing is billed for a request that was refused or never arrived. Where the answer broke off, or a gateway
 * gave up, nobody reports what it took: that is unknown, not zero.
 */
export function usageOfFailure(error: unknown, outputSeen: boolean): TokenUsage | null {
  if (outputSeen) return null;
  for (
    let link = error, depth = 0;
    isObject(link) && depth < 8;
    link = readProperty(link, "cause"), depth += 1
  ) {
    const status = readProperty(link, "statusCode");
    if (typeof status === "number" && status >= 400) return isRefusal(status) ? noUsage : null;
    if (neverSent.has(readProperty(link, "code"))) return noUsage;
  }
  return null;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
