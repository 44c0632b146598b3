import { canonicalJson, sha256 } from "../domain/canonical.ts";
import { InputInvalid, type MaestroError } from "../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../domain/json.ts";

// Published prices in the format of genai-prices, from a file or a server. The content is untrusted.

/** The published table has a twentieth of this size. */
export const mostPriceBytes = 16 * 1024 * 1024;
const mostProviders = 500;
const mostModels = 20_000;
/** No model costs a hundredth of this. A negative or higher price is a mistake, or an attack. */
const mostPrice = 10_000;
const mostPatternLength = 300;
const mostMatchDepth = 8;

/** The price keys for the five token counts of a call. */
const usedKeys: ReadonlySet<string> = new Set([
  "input_mtok",
  "cache_read_mtok",
  "cache_write_mtok",
  "output_mtok",
  "output_reasoning_mtok",
  "requests_kcount",
]);

export interface Tiers {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

export type RawPrices = Readonly<Record<string, number | Tiers>>;

export interface TimedPrices {
  readonly constraint?: JsonObject;
  readonly prices: RawPrices;
}

export interface RawModel {
  readonly id: string;
  readonly match: JsonObject;
  readonly prices: RawPrices | readonly TimedPrices[];
}

export interface RawProvider {
  readonly id: string;
  readonly models: readonly RawModel[];
  readonly fallback_model_providers?: readonly string[];
}

/** Reads all of it or throws InputInvalid: a partly wrong table is not used at all. */
export function parsePriceData(bytes: Uint8Array, from: string): readonly RawProvider[] {
  if (bytes.byteLength > mostPriceBytes) throw refused(from, `it is larger than ${mostPriceBytes} bytes`);
  let data: Json;
  try {
    data = parseJson(bytes);
  } catch (error) {
    throw refused(from, `it is not JSON: ${(error as Error).message}`);
  }
  return readProviders(data, (why) => refused(from, why));
}

type Refuse = (why: string) => MaestroError;

export function readProviders(data: Json | undefined, refuse: Refuse): readonly RawProvider[] {
  if (!Array.isArray(data) || data.length === 0 || data.length > mostProviders)
    throw refuse("it is not a list of providers");
  const providers = data.map((provider: Json) => readProvider(provider, refuse));
  const models = providers.reduce((sum, provider) => sum + provider.models.length, 0);
  if (models === 0 || models > mostModels) throw refuse(`it has ${models} models`);
  if (new Set(providers.map(({ id }) => id)).size !== providers.length)
    throw refuse("a provider is in it twice");
  return providers;
}

/** Equal prices have equal versions, regardless of their source. */
export const versionOfPrices = (providers: readonly RawProvider[]): string =>
  `update:${sha256(canonicalJson(providers as unknown as Json)).slice(0, 12)}`;

function readProvider(provider: Json, refuse: Refuse): RawProvider {
  if (!isJsonObject(provider)) throw refuse("a provider is not an object");
  const { id, models, fallback_model_providers: fallback } = provider;
  if (typeof id !== "string" || !/^[\w.-]{1,64}$/.test(id)) throw refuse("a provider has no usable id");
  if (!Array.isArray(models)) throw refuse(`the provider ${id} has no list of models`);
  if (fallback !== undefined && fallback !== null && !isTexts(fallback))
    throw refuse(`the provider ${id} names no list of other providers`);
  return {
    id,
    models: models.map((model: Json) => readModel(model, id, refuse)),
    ...(isTexts(fallback) && { fallback_model_providers: fallback }),
  };
}

const isTexts = (value: Json | undefined): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

function readModel(model: Json, provider: string, refuse: Refuse): RawModel {
  if (!isJsonObject(model)) throw refuse(`a model of ${provider} is not an object`);
  const { id, match, prices } = model;
  if (typeof id !== "string" || id === "" || id.length > 200 || /\p{Cc}/u.test(id))
    throw refuse(`a model of ${provider} has no usable id`);
  const refuseModel: Refuse = (why) => refuse(`${provider}/${id}: ${why}`);
  const matching = readMatch(match, refuseModel, 0);
  if (!Array.isArray(prices)) return { id, match: matching, prices: readPrices(prices, refuseModel) };
  if (prices.length === 0) throw refuseModel("its list of prices is empty");
  return { id, match: matching, prices: prices.map((timed: Json) => readTimed(timed, refuseModel)) };
}

function readTimed(timed: Json, refuse: Refuse): TimedPrices {
  if (!isJsonObject(timed)) throw refuse("a price is not an object");
  const { constraint } = timed;
  const prices = readPrices(timed["prices"], refuse);
  if (constraint === undefined || constraint === null) return { prices };
  if (!isJsonObject(constraint)) throw refuse("a constraint is not an object");
  const { start_date: start, start_time: from, end_time: to } = constraint;
  if (isDay(start)) return { constraint: { type: "start_date", start_date: start }, prices };
  if (isTime(from) && isTime(to))
    return { constraint: { type: "time_of_date", start_time: from, end_time: to }, prices };
  throw refuse("a constraint is neither a first day nor a time of the day");
}

const isDay = (text: Json | undefined): text is string =>
  typeof text === "string" && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));

const isTime = (text: Json | undefined): text is string =>
  typeof text === "string" &&
  /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/.test(text);

function readPrices(prices: Json | undefined, refuse: Refuse): RawPrices {
  if (!isJsonObject(prices)) throw refuse("it has no prices");
  return Object.fromEntries(
    Object.entries(prices).flatMap(([key, value]) => {
      if (value === null) return [];
      const price = readPrice(value, (why) => refuse(`${key} is ${why}`));
      return usedKeys.has(key) ? [[key, price]] : [];
    }),
  );
}

function readPrice(value: Json, refuse: Refuse): number | Tiers {
  const check = (price: Json | undefined): number => {
    if (typeof price === "number" && price >= 0 && price <= mostPrice) return price;
    throw refuse(`${JSON.stringify(price)?.slice(0, 40)}; a price is a number from 0 to ${mostPrice}`);
  };
  if (!isJsonObject(value)) return check(value);
  const { base, tiers } = value;
  if (!Array.isArray(tiers) || tiers.length > 50) throw refuse("no price and no list of tiers");
  return {
    base: check(base),
    tiers: tiers.map((tier: Json) => {
      const { start, price } = isJsonObject(tier) ? tier : {};
      if (!Number.isSafeInteger(start) || (start as number) < 0) throw refuse("a tier without a start");
      return { start: start as number, price: check(price) };
    }),
  };
}

function readMatch(match: Json | undefined, refuse: Refuse, depth: number): JsonObject {
  const [entry, ...more] = isJsonObject(match) ? Object.entries(match) : [];
  if (entry === undefined || more.length > 0 || depth > mostMatchDepth)
    throw refuse("nothing says which names it has");
  const [kind, value] = entry;
  if ((kind === "or" || kind === "and") && Array.isArray(value))
    return { [kind]: value.map((one: Json) => readMatch(one, refuse, depth + 1)) };
  if (typeof value !== "string" || value.length > mostPatternLength)
    throw refuse("nothing says which names it has");
  if (kind === "regex") {
    if (!isHarmless(value)) throw refuse("the pattern of its names could take too long to match");
    return { regex: value };
  }
  if (["equals", "starts_with", "ends_with", "contains"].includes(kind)) return { [kind]: value };
  throw refuse(`its names are matched by "${kind.slice(0, 40)}", which is not known`);
}

/**
 * True for a pattern without repeated groups and with few repetitions. On short names even a failed match is then
 * fast.
 */
function isHarmless(pattern: string): boolean {
  const unbounded = pattern.match(/[*+]|\{\d+,\}/g)?.length ?? 0;
  if (unbounded > 2 || /\)[*+{]|\\[1-9k]/.test(pattern)) return false;
  try {
    return new RegExp(pattern).source !== "";
  } catch {
    return false;
  }
}

/** No model name is longer. A longer one has no price. */
const mostNameLength = 300;

/** The model with this name, also if another provider serves it. */
export function findModel(
  providers: readonly RawProvider[],
  providerId: string,
  model: string,
): RawModel | undefined {
  const name = model.toLowerCase().trim();
  const provider = providers.find(({ id }) => id === providerId);
  if (provider === undefined || name.length > mostNameLength) return undefined;
  const served = provider.fallback_model_providers ?? [];
  const searched = [provider, ...served.flatMap((id) => providers.find((other) => other.id === id) ?? [])];
  // Some write the date of a release as 20250929, and some as 2025-09-29.
  const dated = name.replace(/-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g, "-$1-$2-$3");
  for (const wanted of new Set([name, dated])) {
    for (const { models } of searched) {
      const found = models.find(({ match }) => matches(match, wanted));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function matches(match: JsonObject, name: string): boolean {
  const [[kind, value] = ["", null]] = Object.entries(match);
  if (Array.isArray(value)) {
    const one = (part: Json): boolean => isJsonObject(part) && matches(part, name);
    return kind === "and" ? value.every(one) : value.some(one);
  }
  if (typeof value !== "string") return false;
  const text = value.toLowerCase();
  switch (kind) {
    case "equals":
      return name === text;
    case "starts_with":
      return name.startsWith(text);
    case "ends_with":
      return name.endsWith(text);
    case "contains":
      return name.includes(text);
    case "regex":
      return new RegExp(value).test(name);
    default:
      return false;
  }
}

const refused = (from: string, why: string): InputInvalid =>
  new InputInvalid(`The prices of ${from} cannot be used: ${why}.`, {
    advice: "The prices in use stay as they are. Give a table of genai-prices (data.json).",
    details: { from },
  });
