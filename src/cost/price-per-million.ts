import { ConfigInvalid } from "../domain/errors.ts";

/** Dollars per million tokens, which is the same number as micro-dollars per token. */
export interface PricePerMillion {
  readonly input: number;
  /** Tokens read from the provider's cache. Default: `input`. */
  readonly cached?: number | undefined;
  /** Tokens written to the provider's cache. Default: `input`. */
  readonly cacheWrite?: number | undefined;
  readonly output: number;
  /** Reasoning tokens. Default: `output`. */
  readonly reasoning?: number | undefined;
}

/** Keyed by model name as teams write it, such as "openai-compatible/llama". */
export type PriceTable = Readonly<Record<string, PricePerMillion>>;

/**
 * Invented prices: the simulated model costs nothing. They let a demonstration show how budgets, resumes and caches
 * affect the bill. Every display marks them as simulated.
 */
export const simulatedPrice: PricePerMillion = { input: 3, cached: 0.3, cacheWrite: 3.75, output: 15 };

/** A thousand dollars per token must be a typing mistake. */
const mostPerMillion = 1_000_000_000;

export function checkPrice(model: string, price: PricePerMillion): void {
  for (const [name, value] of Object.entries(price) as [string, number | undefined][]) {
    if (value === undefined || (value >= 0 && value <= mostPerMillion)) continue;
    throw new ConfigInvalid(`The price of "${model}" cannot be used: ${name} is ${String(value)}.`, {
      advice:
        "Prices are dollars per million tokens: { input: 3, cached: 0.3, cacheWrite: 3.75, output: 15 }",
      details: { model, name, value: String(value) },
    });
  }
}
