import { describeConfig } from "../../config/describe.ts";
import { type GlobalOptions, loadFromFlags } from "../open.ts";
import { print, printJson, say, table } from "../output.ts";

export async function config(options: GlobalOptions): Promise<void> {
  const loaded = await loadFromFlags(options);
  for (const warning of loaded.warnings) say(warning);
  const settings = describeConfig(loaded);
  if (options.json) return printJson(settings);
  print(
    table(
      ["setting", "value", "from", "environment", "what it is"],
      settings.map(({ key, value, origin, environment, description }) => [
        key,
        value === null ? "-" : String(value),
        origin,
        environment,
        description,
      ]),
    ),
  );
}
