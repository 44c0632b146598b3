import { describeConfig, showSetting } from "../../config/describe.ts";
import { type GlobalOptions, loadFromFlags } from "../open.ts";
import { printJson, printTable, say } from "../output.ts";

export async function config(options: GlobalOptions): Promise<void> {
  const loaded = await loadFromFlags(options);
  for (const warning of loaded.warnings) say(warning);
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
