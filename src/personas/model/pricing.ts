import { type ModelPrice, spentOn, worstCase } from "../../cost/model-price.ts";
import type { Pricing } from "./ports.ts";

/** Reserves and settles a call at the same price. */
export function pricingOf(priceOf: (model: string) => Promise<ModelPrice | null>): Pricing {
  const known = new Map<string, ModelPrice | null>();
  return {
    worstCase: async (model, inputTokens, maxOutputTokens) => {
      const price = await priceOf(model);
      known.set(model, price);
      return worstCase(price, inputTokens, maxOutputTokens);
    },
    spent: (model, usage) => spentOn(known.get(model) ?? null, usage),
  };
}
