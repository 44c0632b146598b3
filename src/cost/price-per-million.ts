import { ConfigInvalid } from "../domain/errors.ts";

/** Dollars per million tokens, which is the same number as micro-dollars per token. */
export interface PricePerMillion {
  readonly input: number;
  /** Read from the provider's cache; as `input` when it is not given. */
  readonly cached?: number | undefined;
  /** Written to the provider's cache; as `input` when it is not given. */
  readonly cacheWrite?: number | undefined;
  readonly output: number;
  /** Thought and not said; as `output` when it is not given. */
  readonly reasoning?: number | undefined;
}

/** By the model's name as teams write it, such as "openai-compatible/llama". */
export type PriceTable = Readonly<Record<string, PricePerMillion>>;

/**
 * Invented: the simulated model costs nothing. It has a price so that a demonstration shows what budgets, resumes and
 * caches do to the bill; every display says that it is simulated.
 */
export const simulatedPrice: PricePerMillion = { input: 3, cached: 0.3, cacheWrite: 3.75, output: 15 };

/** A thousand dollars a token is a typing mistake. */
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
