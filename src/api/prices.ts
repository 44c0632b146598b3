import type { LoadedConfig } from "../config/load.ts";
import { parsePriceData, type RawModel, type RawPrices, type RawProvider } from "../cost/price-data.ts";
import { readPriceFile, type UpdatedPrices, writePriceFile } from "../cost/price-file.ts";
import { publishedAt, readPriceSource } from "../cost/price-source.ts";
import { versionOfTable } from "../cost/prices.ts";
import { installedTable, type PublishedTable, pricesAt } from "../cost/published.ts";
import { advise } from "../domain/advice.ts";
import { InputInvalid } from "../domain/errors.ts";
import { optionalNames } from "../personas/model/optional-providers.ts";
import { knownProviders, publishedNames } from "../personas/model/provider-table.ts";
import { resolveStateDirectory } from "../store/state-directory.ts";

/** A table of prices in use. The first table that lists a model applies. */
export interface PriceSource {
  readonly kind: "configuration" | "updated" | "installed";
  /** The version as in the rows of `usage`. */
  readonly version: string;
  readonly models: number;
  /** For updated prices: their source, and since when they are in use. */
  readonly from?: string;
  readonly at?: string;
}

/** Dollars per million tokens. */
export interface ListedPrice {
  readonly model: string;
  readonly version: string;
  readonly input: number;
  readonly cached: number | null;
  readonly cacheWrite: number | null;
  readonly output: number;
  readonly reasoning: number | null;
  /** Whether long inputs cost more. */
  readonly tiers: boolean;
}

export interface PriceReport {
  readonly sources: readonly PriceSource[];
  readonly models: readonly ListedPrice[];
}

export interface PriceUpdate {
  readonly version: string;
  readonly from: string;
  readonly models: number;
  /** Models of Maestro's providers that were added, compared with the previously published prices. */
  readonly added: readonly string[];
  readonly changed: readonly string[];
  /** Models missing from the new table. The prices of the installed package apply to them. */
  readonly missing: readonly string[];
}

const providerNames: readonly string[] = [...knownProviders, ...optionalNames];

/** The prices in use. `loaded`: from a read-only open; nothing is written. */
export async function listPrices({ config }: LoadedConfig, now = Date.now()): Promise<PriceReport> {
  const { path } = await resolveStateDirectory({
    explicit: config.stateDir,
    env: process.env,
    forReading: true,
  });
  const updated = await readPriceFile(path);
  const installed = await installedTable();
  const own = config.prices ?? {};
  const version = versionOfTable(own);
  const models = new Map<string, ListedPrice>();
  for (const [model, { input, cached, cacheWrite, output, reasoning }] of Object.entries(own)) {
    const [parts, tiers] = [{ cached, cacheWrite, reasoning }, false];
    models.set(model, { model, version, input, output, ...nulls(parts), tiers });
  }
  for (const table of [updated?.table, installed])
    if (table !== undefined)
      for (const price of pricesOf(table, now)) if (!models.has(price.model)) models.set(price.model, price);
  return { sources: sourcesOf(own, version, updated, installed), models: [...models.values()] };
}

function sourcesOf(
  own: object,
  version: string,
  updated: UpdatedPrices | undefined,
  installed: PublishedTable,
): readonly PriceSource[] {
  const count = Object.keys(own).length;
  return [
    ...(count === 0 ? [] : [{ kind: "configuration", version, models: count } as const]),
    ...(updated === undefined
      ? []
      : [
          {
            kind: "updated",
            version: updated.table.version,
            models: countOf(updated.table),
            from: updated.from,
            at: updated.at,
          } as const,
        ]),
    { kind: "installed", version: installed.version, models: countOf(installed) },
  ];
}

/**
 * Reads published prices, checks all of them and stores them in the state directory, where every process uses them
 * from its next call. `allowFree`: also accept prices that fall to almost nothing.
 */
export async function updatePrices(
  { config }: LoadedConfig,
  {
    from,
    allowFree = false,
    now = Date.now(),
  }: { readonly from?: string | undefined; readonly allowFree?: boolean; readonly now?: number },
): Promise<PriceUpdate> {
  const source = await readPriceSource(from ?? (await publishedAt()));
  const providers = parsePriceData(source.bytes, source.from);
  const { path } = await resolveStateDirectory({ explicit: config.stateDir, env: process.env });
  // Damaged prices are replaced, not compared.
  const before = (await readPriceFile(path).catch(() => undefined))?.table ?? (await installedTable());
  const changes = compare(before, providers, now);
  if (changes.count === 0) throw noKnownProvider(source.from);
  if (changes.free.length > 0 && !allowFree) throw fallsToNothing(source.from, changes.free);
  const { table } = await writePriceFile(path, { providers, from: source.from, at: now });
  const { added, changed, missing, count } = changes;
  return { version: table.version, from: source.from, models: count, added, changed, missing };
}

function compare(before: PublishedTable, providers: readonly RawProvider[], now: number) {
  const known = new Map(pricesOf(before, now).map((price) => [price.model, price]));
  const after = new Map(
    providerNames.flatMap((name) => {
      const found = providers.find(({ id }) => id === publishedName(name));
      return (found?.models ?? []).flatMap((model) => {
        const price = priceOfModel(name, model, "", now);
        return price === undefined ? [] : [[price.model, price] as const];
      });
    }),
  );
  const [added, changed, free]: [string[], string[], string[]] = [[], [], []];
  for (const [model, price] of after) {
    const old = known.get(model);
    if (old === undefined) added.push(model);
    else if (JSON.stringify({ ...old, version: "" }) !== JSON.stringify(price)) changed.push(model);
    if (old !== undefined && (fell(old.input, price.input) || fell(old.output, price.output)))
      free.push(model);
  }
  const missing = [...known.keys()].filter((model) => !after.has(model));
  return { added, changed, missing, free, count: after.size };
}

/** Prices fall, but not to a hundredth in one update. */
const fell = (old: number, now: number): boolean => old > 0 && now < old / 100;

function pricesOf(table: PublishedTable, now: number): readonly ListedPrice[] {
  return providerNames.flatMap((name) =>
    table
      .modelsOf(publishedName(name))
      .flatMap((model) => priceOfModel(name, model, table.version, now) ?? []),
  );
}

const countOf = (table: PublishedTable): number => pricesOf(table, Date.now()).length;

const publishedName = (provider: string): string =>
  Object.hasOwn(publishedNames, provider) ? (publishedNames[provider] ?? provider) : provider;

/** Undefined for a model that is not paid by the token. */
function priceOfModel(
  provider: string,
  model: RawModel,
  version: string,
  now: number,
): ListedPrice | undefined {
  const prices = pricesAt(model, now);
  const price = (key: string): number | undefined => baseOf(prices, key);
  const [input, output] = [price("input_mtok"), price("output_mtok")];
  if (input === undefined || output === undefined) return undefined;
  return {
    model: `${provider}/${model.id}`,
    version,
    input,
    output,
    ...nulls({
      cached: price("cache_read_mtok"),
      cacheWrite: price("cache_write_mtok"),
      reasoning: price("output_reasoning_mtok"),
    }),
    tiers: Object.values(prices).some((value) => typeof value === "object"),
  };
}

function baseOf(prices: RawPrices, key: string): number | undefined {
  const value = prices[key];
  return typeof value === "object" ? value.base : value;
}

const nulls = ({
  cached = null,
  cacheWrite = null,
  reasoning = null,
}: Partial<Record<"cached" | "cacheWrite" | "reasoning", number | null | undefined>>) => ({
  cached: cached ?? null,
  cacheWrite: cacheWrite ?? null,
  reasoning: reasoning ?? null,
});

const noKnownProvider = (from: string): InputInvalid =>
  new InputInvalid(`The prices of ${from} have no model of a provider that Maestro knows.`, {
    advice: "The prices in use stay as they are. Check --from.",
    details: { from },
  });

const fallsToNothing = (from: string, models: readonly string[]): InputInvalid =>
  new InputInvalid(
    `In the prices of ${from}, ${models.length} models cost less than a hundredth of what they did: ${models.slice(0, 5).join(", ")}${models.length > 5 ? ", ..." : ""}.`,
    {
      advice: [
        advise("The prices in use stay as they are: a price of almost nothing lifts a budget of dollars."),
        advise("If the prices are right", "prices", "update", "--from", from, "--allow-free"),
      ],
      details: { from, models: models.slice(0, 100) },
    },
  );
