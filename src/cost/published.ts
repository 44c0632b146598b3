import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { forEachCount, type TokenUsage } from "../domain/usage.ts";
import { type ModelPrice, roundUp } from "./model-price.ts";
import { findModel, type RawModel, type RawPrices, type RawProvider } from "./price-data.ts";

/** Names of providers in the published tables, if they differ from Maestro's. */
export type PublishedNames = Readonly<Record<string, string>>;

/** A table of published prices. */
export interface PublishedTable {
  /** Version as recorded in the ledger: "genai-prices@0.1.8", "update:3f2a9c01b7de". */
  readonly version: string;
  /** Takes the published name of the provider. */
  readonly find: (provider: string, model: string) => RawModel | undefined;
  readonly modelsOf: (provider: string) => readonly RawModel[];
}

export function tableOfData(version: string, providers: readonly RawProvider[]): PublishedTable {
  return {
    version,
    find: (provider, model) => findModel(providers, provider, model),
    modelsOf: (provider) => providers.find(({ id }) => id === provider)?.models ?? [],
  };
}

/** The table of the installed package. */
export async function installedTable(): Promise<PublishedTable> {
  const { calcPrice, findProvider } = await import("@pydantic/genai-prices");
  const providerOf = (providerId: string) => {
    const provider = findProvider({ providerId });
    // The library matches similar names: "openai-compatible" is not OpenAI and does not have its prices.
    return provider?.id === providerId ? provider : undefined;
  };
  return {
    version: `genai-prices@${await installedVersion()}`,
    find: (name, model) => {
      const provider = providerOf(name);
      // Its own search knows which other provider makes the model.
      return provider && (calcPrice({}, model, { provider })?.model as RawModel | undefined);
    },
    modelsOf: (name) => (providerOf(name)?.models ?? []) as unknown as readonly RawModel[],
  };
}

async function installedVersion(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve("@pydantic/genai-prices");
  const text = await readFile(join(dirname(entry), "..", "package.json"), "utf8");
  return String((JSON.parse(text) as { readonly version?: string }).version);
}

/** Null if tokens have no price: a model paid per image would seem to cost nothing. */
export async function priceOf(
  { id, prices }: RawModel,
  version: string,
  now: () => number,
): Promise<ModelPrice | null> {
  const { calcPrice } = await import("@pydantic/genai-prices");
  type Provider = NonNullable<NonNullable<Parameters<typeof calcPrice>[2]>["provider"]>;
  const provider = {
    id: "one",
    name: "one",
    api_pattern: "",
    models: [{ id, match: { equals: id }, prices }],
  } as unknown as Provider;
  const calculate = (usage: TokenUsage) => {
    try {
      return calcPrice(
        {
          input_tokens: usage.inputTokens,
          cache_read_tokens: usage.cachedInputTokens,
          cache_write_tokens: usage.cacheWriteTokens,
          output_tokens: usage.outputTokens,
          output_reasoning_tokens: usage.reasoningTokens,
        },
        id,
        { provider, timestamp: new Date(now()) },
      );
    } catch {
      return null;
    }
  };
  const known = calculate(oneOfEach)?.model_price;
  if (known?.["input_mtok"] === undefined || known["output_mtok"] === undefined) return null;
  // The ledger treats NaN as no cost and then counts the reservation.
  const usd = (usage: TokenUsage) => calculate(usage)?.total_price ?? Number.NaN;
  return { simulated: false, table: version, cost: (usage) => roundUp(usd(usage) * 1_000_000) };
}

const oneOfEach: TokenUsage = { ...forEachCount(() => 1), inputTokens: 3, outputTokens: 2 };

/** Selects the prices of a time of day: those without a constraint, or the newest that has begun. */
export function pricesAt({ prices }: RawModel, at: number): RawPrices {
  if (!Array.isArray(prices)) return prices as RawPrices;
  const begun = prices.filter(({ constraint }) => {
    const start = constraint?.["start_date"];
    return typeof start !== "string" || Date.parse(start) <= at;
  });
  return (begun.at(-1) ?? prices[0])?.prices ?? {};
}
