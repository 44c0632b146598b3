import type { Amount } from "../domain/budget.ts";
import { type Clock, systemClock } from "../domain/clock.ts";
import { isSimulated } from "../domain/simulated.ts";
import type { TokenUsage } from "../domain/usage.ts";
import { type ModelPrice, priceFromTable, roundUp, worstCase } from "./model-price.ts";
import { checkPrice, type PriceTable, simulatedPrice } from "./price-per-million.ts";

/**
 * The prices of models: the user's own table first, then the published prices. A model in neither has no price (null), and
 * dollar budgets refuse it: a guess would be a budget that does not hold.
 */
export class Prices {
  readonly #table: ReadonlyMap<string, ModelPrice>;
  readonly #clock: Clock;
  readonly #published = new Map<string, Promise<ModelPrice | null>>();

  constructor(table: PriceTable = {}, clock: Clock = systemClock) {
    for (const [model, price] of Object.entries(table)) checkPrice(model, price);
    this.#table = new Map(
      Object.entries(table).map(([model, price]) => [model, priceFromTable(price, isSimulated(model))]),
    );
    this.#clock = clock;
  }

  /** Loads the published prices at the first question about a model that is not in the table. */
  async of(model: string): Promise<ModelPrice | null> {
    const own = this.#table.get(model);
    if (own !== undefined) return own;
    if (isSimulated(model)) return priceFromTable(simulatedPrice, true);
    let price = this.#published.get(model);
    if (price === undefined) {
      price = publishedPrice(model, this.#clock);
      this.#published.set(model, price);
    }
    return price;
  }

  async worstCase(model: string, inputTokens: number, maxOutputTokens: number): Promise<Amount> {
    return worstCase(await this.of(model), inputTokens, maxOutputTokens);
  }
}

async function publishedPrice(name: string, clock: Clock): Promise<ModelPrice | null> {
  const slash = name.indexOf("/");
  const [providerId, model] = [name.slice(0, slash), name.slice(slash + 1)];
  if (slash <= 0 || model === "") return null;
  const { calcPrice, findProvider } = await import("@pydantic/genai-prices");
  const provider = findProvider({ providerId });
  // It finds something for anything that sounds alike: "openai-compatible" is not OpenAI, and not at its prices.
  if (provider?.id !== providerId) return null;
  const calculate = (usage: TokenUsage) =>
    calcPrice(
      {
        input_tokens: usage.inputTokens,
        cache_read_tokens: usage.cachedInputTokens,
        cache_write_tokens: usage.cacheWriteTokens,
        output_tokens: usage.outputTokens,
        output_reasoning_tokens: usage.reasoningTokens,
      },
      model,
      { provider, timestamp: new Date(clock.now()) },
    );
  const known = calculate(oneOfEach)?.model_price;
  // Priced by something else than tokens, by the image for one: then tokens would seem to cost nothing.
  if (known?.["input_mtok"] === undefined || known["output_mtok"] === undefined) return null;
  // Not a number is no cost to the ledger, which then counts what was reserved.
  const usd = (usage: TokenUsage) => calculate(usage)?.total_price ?? Number.NaN;
  return { simulated: false, cost: (usage) => roundUp(usd(usage) * 1_000_000) };
}

const oneOfEach: TokenUsage = {
  inputTokens: 3,
  cachedInputTokens: 1,
  cacheWriteTokens: 1,
  outputTokens: 2,
  reasoningTokens: 1,
};
