import type { Money } from "../../domain/budget.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { mostTokens, noUsage, type Spent, type TokenUsage, totalTokens } from "../../domain/usage.ts";

/** The name of a model that an agent does not tell. */
export const unnamedModel = "";

/** The usage of an agent, in one run or since its conversation began. */
export interface AgentUse {
  readonly byModel: ReadonlyMap<string, TokenUsage>;
  /** As the agent reports it; `null` if it reports none. */
  readonly costMicroUsd: Money | null;
}

export const noUse: AgentUse = { byModel: new Map(), costMicroUsd: null };

export const totalOf = ({ byModel }: AgentUse): TokenUsage => [...byModel.values()].reduce(plus, noUsage);

export function plus(one: TokenUsage, other: TokenUsage): TokenUsage {
  return eachPart((part) => one[part] + other[part]);
}

/** The usage since `before`. An agent's counts may shrink, so they are not trusted to grow. */
export function since(use: AgentUse, before: AgentUse): AgentUse {
  const byModel = new Map<string, TokenUsage>();
  for (const [model, usage] of use.byModel) {
    const earlier = before.byModel.get(model) ?? noUsage;
    byModel.set(
      model,
      eachPart((part) => Math.max(0, usage[part] - earlier[part])),
    );
  }
  const [now, then] = [use.costMicroUsd, before.costMicroUsd ?? 0];
  return { byModel, costMicroUsd: now === null ? null : Math.max(0, now - then) };
}

/** The fuller of two accounts of the same work; one may lack the names of models, the other the price. */
export function fuller(reported: AgentUse, recorded: AgentUse): AgentUse {
  const [one, other] = [totalTokens(totalOf(reported)), totalTokens(totalOf(recorded))];
  if (one > other) return reported;
  return other > one ? recorded : { ...recorded, costMicroUsd: reported.costMicroUsd };
}

/** Prices tokens by the name of their model; `null` when one of them has no price. */
export type PriceUsage = (model: string, usage: TokenUsage) => Promise<Money | null>;

/** Work without a token was not counted: it may have taken what was reserved for it. */
export async function spentBy(use: AgentUse, priceOf: PriceUsage): Promise<Spent> {
  const usage = totalOf(use);
  // Some say zero for a price that they do not know.
  const said = use.costMicroUsd === 0 ? null : use.costMicroUsd;
  if (usage.inputTokens === 0 || usage.outputTokens === 0) return { usage: null, costMicroUsd: said };
  if (said !== null) return { usage, costMicroUsd: said };
  let cost: Money | null = 0;
  for (const [model, part] of use.byModel) {
    if (totalTokens(part) === 0) continue;
    const price: Money | null = model === unnamedModel ? null : await priceOf(model, part);
    cost = price === null || cost === null ? null : cost + price;
  }
  return { usage, costMicroUsd: cost };
}

export function useToJson({ byModel, costMicroUsd }: AgentUse): JsonObject {
  return {
    byModel: Object.fromEntries([...byModel].map(([model, usage]) => [model, { ...usage }])),
    costMicroUsd,
  };
}

export function useFromJson(value: unknown): AgentUse {
  if (!isJsonObject(value) || !isJsonObject(value["byModel"])) return noUse;
  const entries = Object.entries(value["byModel"]).map(([model, usage]) => {
    const counts = isJsonObject(usage) ? usage : {};
    return [model, eachPart((part) => countOf(counts[part]))] as const;
  });
  const cost = value["costMicroUsd"];
  return { byModel: new Map(entries), costMicroUsd: typeof cost === "number" ? cost : null };
}

/** A count from outside: none when it is no count. */
export const countOf = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= mostTokens
    ? (value as number)
    : 0;

const maxUsd = 1_000_000;

export const costOf = (usd: unknown): Money | null =>
  typeof usd === "number" && usd >= 0 && usd < maxUsd ? Math.round(usd * 1_000_000) : null;

const parts = Object.keys(noUsage) as (keyof TokenUsage)[];

const eachPart = (count: (part: keyof TokenUsage) => number): TokenUsage =>
  Object.fromEntries(parts.map((part) => [part, count(part)])) as unknown as TokenUsage;
