import { describeConfig, showSetting } from "../../config/describe.ts";
import { type GlobalOptions, loadForReading } from "../open.ts";
import { printJson, printTable, sayNotice } from "../output.ts";

export async function config(options: GlobalOptions): Promise<void> {
  const loaded = await loadForReading(options);
  if (loaded.leftOut !== undefined) sayNotice(loaded.leftOut);
  const settings = describeConfig(loaded);
  if (options.json) return printJson(settings);
  printTable(
    [
      { head: "setting" },
      { head: "value" },
      { head: "from" },
      { head: "environment", yields: 1 },
      { head: "description", yields: 2 },
    ],
    settings.map(({ key, value, origin, environment, description }) => [
      key,
      showSetting(value),
      origin,
      environment,
      description,
    ]),
  );
}
