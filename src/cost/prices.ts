import type { Amount } from "../domain/budget.ts";
import { fingerprint } from "../domain/canonical.ts";
import { type Clock, systemClock } from "../domain/clock.ts";
import type { Json } from "../domain/json.ts";
import { isSimulated, simulatedName } from "../domain/simulated.ts";
import { type ModelPrice, priceFromTable, worstCase } from "./model-price.ts";
import type { PriceFile } from "./price-file.ts";
import { checkPrice, type PriceTable, simulatedPrice } from "./price-per-million.ts";
import { installedTable, type PublishedNames, type PublishedTable, priceOf } from "./published.ts";

/** Version of the configured prices, as recorded in the ledger. */
export const versionOfTable = (table: PriceTable): string =>
  `config:${fingerprint(table as unknown as Json).slice(0, 12)}`;

interface PublishedSources {
  readonly clock?: Clock;
  /** Prices from `maestro prices update`. */
  readonly file?: Pick<PriceFile, "table"> | undefined;
  readonly names?: PublishedNames;
}

/**
 * Prices of models: the user's table first, then updated prices, then those of the installed package. A model in
 * none of them has no price (null), and dollar budgets refuse it, because a guessed price would break the limit.
 */
export class Prices {
  readonly #table: ReadonlyMap<string, ModelPrice>;
  readonly #clock: Clock;
  readonly #file: Pick<PriceFile, "table"> | undefined;
  readonly #names: PublishedNames;
  #installed: Promise<PublishedTable> | undefined;
  readonly #published = new WeakMap<PublishedTable, Map<string, Promise<ModelPrice | null>>>();

  constructor(table: PriceTable = {}, { clock = systemClock, file, names = {} }: PublishedSources = {}) {
    for (const [model, price] of Object.entries(table)) checkPrice(model, price);
    const version = versionOfTable(table);
    this.#table = new Map(
      Object.entries(table).map(([model, price]) => [
        model,
        priceFromTable(price, version, isSimulated(model)),
      ]),
    );
    this.#clock = clock;
    this.#file = file;
    this.#names = names;
  }

  /** Loads the published prices when a model is first missing from the configured table. */
  async of(model: string): Promise<ModelPrice | null> {
    const own = this.#table.get(model);
    if (own !== undefined) return own;
    if (isSimulated(model)) return priceFromTable(simulatedPrice, simulatedName, true);
    const updated = await this.#file?.table();
    const found = updated && (await this.#in(updated, model));
    if (found) return found;
    this.#installed ??= installedTable();
    return this.#in(await this.#installed, model);
  }

  async worstCase(model: string, inputTokens: number, maxOutputTokens: number): Promise<Amount> {
    return worstCase(await this.of(model), inputTokens, maxOutputTokens);
  }

  async #in(table: PublishedTable, name: string): Promise<ModelPrice | null> {
    const known = this.#published.get(table) ?? new Map<string, Promise<ModelPrice | null>>();
    this.#published.set(table, known);
    let price = known.get(name);
    if (price === undefined) {
      price = this.#publishedIn(table, name);
      known.set(name, price);
    }
    return price;
  }

  async #publishedIn(table: PublishedTable, name: string): Promise<ModelPrice | null> {
    const slash = name.indexOf("/");
    const [provider, model] = [name.slice(0, slash), name.slice(slash + 1)];
    if (slash <= 0 || model === "") return null;
    const published = Object.hasOwn(this.#names, provider) ? this.#names[provider] : undefined;
    const found = table.find(published ?? provider, model);
    return found === undefined ? null : priceOf(found, table.version, () => this.#clock.now());
  }
}
