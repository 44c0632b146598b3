import { listPrices, type PriceReport, type PriceSource, updatePrices } from "../../api/prices.ts";
import { type GlobalOptions, loadForReading, loadFromFlags } from "../open.ts";
import { print, printJson, printTable, say, sayCommand } from "../output.ts";
import { count, number, plain } from "../terminal/format.ts";

interface PriceFlags extends GlobalOptions {
  readonly match?: string;
  readonly from?: string;
  readonly allowFree?: boolean;
}

const mostRows = 50;

export async function prices({ match, ...options }: PriceFlags): Promise<void> {
  const report = await listPrices(await loadForReading(options));
  const models = report.models.filter(({ model }) => match === undefined || model.includes(match));
  if (options.json) return printJson({ ...report, models });
  printTable(
    [
      { head: "prices" },
      { head: "version" },
      { head: "models", align: "right" },
      { head: "from", yields: 2 },
    ],
    report.sources.map((source) => [source.kind, source.version, number(source.models), origin(source)]),
  );
  if (match === undefined)
    return sayCommand("The prices of models", options.stateDir, "prices", "--match", "claude");
  show(models);
}

const origin = ({ from, at }: PriceSource): string => (from === undefined ? "" : plain(`${from}, ${at}`));

function show(models: PriceReport["models"]): void {
  print("");
  if (models.length === 0) return say("No model with a price has this in its name.");
  printTable(
    [
      { head: "dollars per million tokens" },
      { head: "input", align: "right" },
      { head: "cached", align: "right", yields: 3 },
      { head: "cache write", align: "right", yields: 2 },
      { head: "output", align: "right" },
      { head: "version", yields: 1 },
    ],
    models
      .slice(0, mostRows)
      .map(({ model, input, cached, cacheWrite, output, tiers, version }) => [
        plain(model),
        `${tiers ? "from " : ""}${input}`,
        cached === null ? "-" : String(cached),
        cacheWrite === null ? "-" : String(cacheWrite),
        `${tiers ? "from " : ""}${output}`,
        version,
      ]),
  );
  if (models.length > mostRows) say(`and ${models.length - mostRows} more; all of them with --json`);
}

export async function updatePriceTable({ from, allowFree, ...options }: PriceFlags): Promise<void> {
  const update = await updatePrices(await loadFromFlags(options), { from, allowFree: allowFree === true });
  if (options.json) return printJson(update);
  const { version, models, added, changed, missing } = update;
  print(
    plain(`Prices of ${count(models, "model")} are in use from now on: ${version}, from ${update.from}.`),
  );
  print(
    `${number(added.length)} new, ${number(changed.length)} changed, ${number(missing.length)} not in it.`,
  );
}
