import { stat } from "node:fs/promises";
import { join } from "node:path";
import { advise } from "../domain/advice.ts";
import { StateCorrupt } from "../domain/errors.ts";
import { isoTime } from "../domain/iso-time.ts";
import { isJsonObject, parseJson } from "../domain/json.ts";
import { readFileBounded, writeDurably } from "../store/durable-file.ts";
import { mostPriceBytes, type RawProvider, readProviders, versionOfPrices } from "./price-data.ts";
import { type PublishedTable, tableOfData } from "./published.ts";

/** Prices from `maestro prices update`, stored in the state directory so that all its processes use the same. */
export const priceFileName = "prices.json";

export interface UpdatedPrices {
  readonly table: PublishedTable;
  /** The address or path of their source. */
  readonly from: string;
  readonly at: string;
  readonly providers: readonly RawProvider[];
}

export async function writePriceFile(
  stateDirectory: string,
  {
    providers,
    from,
    at,
  }: { readonly providers: readonly RawProvider[]; readonly from: string; readonly at: number },
): Promise<UpdatedPrices> {
  const version = versionOfPrices(providers);
  const content = { version, from, at: isoTime(at), providers };
  await writeDurably(join(stateDirectory, priceFileName), `${JSON.stringify(content)}\n`);
  return { table: tableOfData(version, providers), from, at: content.at, providers };
}

/** Undefined if there is no file. Throws StateCorrupt if the prices do not match their version. */
export async function readPriceFile(stateDirectory: string): Promise<UpdatedPrices | undefined> {
  const path = join(stateDirectory, priceFileName);
  const found = await readFileBounded(path, 2 * mostPriceBytes);
  if (found === "missing") return undefined;
  if (typeof found === "string") throw damaged(path, `it is ${found}`);
  const content = parsed(found, path);
  const providers = readProviders(content["providers"], (why) => damaged(path, why));
  const { version, from, at } = content;
  if (typeof from !== "string" || typeof at !== "string" || version !== versionOfPrices(providers))
    throw damaged(path, "its prices are not those of its version");
  return { table: tableOfData(version, providers), from, at, providers };
}

function parsed(bytes: Buffer, path: string) {
  try {
    const content = parseJson(bytes);
    if (isJsonObject(content)) return content;
  } catch (error) {
    throw damaged(path, `it is not JSON: ${(error as Error).message}`);
  }
  throw damaged(path, "it is not an object");
}

const damaged = (path: string, why: string): StateCorrupt =>
  new StateCorrupt(`The updated prices in ${path} are damaged: ${why}.`, {
    advice: [
      advise("Read them anew", "prices", "update"),
      advise("Or remove the file: the prices of the installed package count then."),
    ],
    details: { path },
  });

/** Rereads the file after it changes, so that `maestro prices update` reaches running processes. */
export class PriceFile {
  readonly #stateDirectory: string;
  readonly #onDamage: (error: unknown) => void;
  #seen: string | undefined;
  #table: Promise<PublishedTable | undefined> = Promise.resolve(undefined);

  constructor(stateDirectory: string, onDamage: (error: unknown) => void = () => {}) {
    this.#stateDirectory = stateDirectory;
    this.#onDamage = onDamage;
  }

  async table(): Promise<PublishedTable | undefined> {
    const found = await stat(join(this.#stateDirectory, priceFileName)).catch(() => undefined);
    const now = found && `${found.ino} ${found.mtimeMs} ${found.size}`;
    if (now !== this.#seen) {
      this.#seen = now;
      this.#table = readPriceFile(this.#stateDirectory).then(
        (updated) => updated?.table,
        (error: unknown) => {
          // The prices of the package are published too, and the ledger names their version.
          this.#onDamage(error);
          return undefined;
        },
      );
    }
    return this.#table;
  }
}
