import { resolve } from "node:path";
import { ConfigInvalid } from "../domain/errors.ts";
import type { Config, ConfigOverrides, SettingKey } from "./config.ts";
import { type ConfigFile, readConfigFile } from "./config-file.ts";
import { codeLayer, environmentLayer, type Flags, fileLayer, flagLayer, type Layer } from "./layers.ts";
import { describeOrigin, type Origin } from "./origin.ts";
import { orderedPairs, type Setting, settingKeys, settings } from "./settings.ts";
import { showValue } from "./show-value.ts";

export interface LoadOptions {
  readonly cwd?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly flags?: Flags | undefined;
  /** The options of `open()`. */
  readonly overrides?: ConfigOverrides | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly origins: ReadonlyMap<SettingKey, Origin>;
  readonly file: string | undefined;
  readonly warnings: readonly string[];
}

type Chosen = Map<SettingKey, { readonly value: unknown; readonly origin: Origin }>;

/** Flag over code over environment over file over default. Everything that is wrong is said in one error. */
export async function loadConfig(options: LoadOptions = {}): Promise<LoadedConfig> {
  const cwd = resolve(options.cwd ?? ".");
  const problems: string[] = [];
  const file = await readConfigFile(cwd).catch((error: unknown): ConfigFile | undefined => {
    problems.push((error as Error).message);
    return undefined;
  });
  const layersUpward = [
    ...(file === undefined ? [] : [await fileLayer(file)]),
    environmentLayer(options.env ?? process.env),
    codeLayer(options.overrides ?? {}),
    flagLayer(options.flags ?? {}),
  ];
  problems.push(...layersUpward.flatMap((layer) => layer.problems));
  const chosen = await choose(layersUpward, problems);
  for (const pair of orderedPairs) letDefaultGiveWay(chosen, pair);
  problems.push(...wrongOrder(chosen));
  if (problems.length > 0) throw invalid(problems);
  return {
    config: build(chosen, cwd),
    origins: new Map([...chosen].map(([key, { origin }]) => [key, origin])),
    file: file?.path,
    warnings: layersUpward.flatMap((layer) => layer.warnings),
  };
}

/** Every value is checked, also one that a higher layer replaces: it is wrong today or tomorrow. */
async function choose(layersUpward: readonly Layer[], problems: string[]): Promise<Chosen> {
  const chosen = new Map<SettingKey, { value: unknown; origin: Origin }>(
    settingKeys.map((key) => [key, { value: settings[key].default, origin: { kind: "default" } }]),
  );
  for (const layer of layersUpward) {
    for (const [key, raw] of layer.values) {
      const setting: Setting<unknown> = settings[key];
      const value = setting.kind.read(raw, layer.isText);
      if (value !== undefined) chosen.set(key, { value, origin: layer.originOf(key) });
      else problems.push(notAllowed(key, raw, layer.originOf(key), await layer.lineOf?.(key)));
    }
  }
  return chosen;
}

function notAllowed(key: SettingKey, raw: unknown, origin: Origin, line: number | undefined): string {
  const { kind, secret } = settings[key];
  const place = describeOrigin(origin) + (line === undefined ? "" : `, line ${line}`);
  return `${key} is ${secret ? "a value that is kept secret" : showValue(raw)} (${place}); allowed is ${kind.allowed}.`;
}

/** A longest wait of 200 ms alone is valid: the default shortest wait of 1,000 ms then shrinks with it. */
function letDefaultGiveWay(chosen: Chosen, [smaller, larger]: (typeof orderedPairs)[number]): void {
  const [low, high] = [chosen.get(smaller), chosen.get(larger)];
  if (low === undefined || high === undefined || Number(low.value) <= Number(high.value)) return;
  if (low.origin.kind === "default") chosen.set(smaller, { ...low, value: high.value });
  else if (high.origin.kind === "default") chosen.set(larger, { ...high, value: low.value });
}

function wrongOrder(chosen: Chosen): string[] {
  return orderedPairs.flatMap(([smaller, larger]) => {
    const [low, high] = [chosen.get(smaller), chosen.get(larger)];
    if (low === undefined || high === undefined || Number(low.value) <= Number(high.value)) return [];
    return (
      `${smaller} is ${String(low.value)} (${describeOrigin(low.origin)}) and so larger than ` +
      `${larger}, which is ${String(high.value)} (${describeOrigin(high.origin)}). Change one of them.`
    );
  });
}

function invalid(problems: readonly string[]): ConfigInvalid {
  const [only] = problems;
  const message =
    problems.length === 1 && only !== undefined
      ? `The configuration is not valid: ${only}`
      : `The configuration has ${problems.length} problems:\n${problems.map((problem) => `- ${problem}`).join("\n")}`;
  return new ConfigInvalid(message, {
    details: { problems: [...problems] },
    advice: "Correct it where it is set, in the file, the environment or the flag that is named.",
  });
}

/** The nested object of the flat table. */
function build(chosen: Chosen, cwd: string): Config {
  const config: Record<string, unknown> = {};
  for (const [key, { value }] of chosen) {
    const [section, name] = key.split(".") as [string, string?];
    if (name === undefined) config[section] = value;
    else config[section] = { ...(config[section] as object | undefined), [name]: value };
  }
  const { stateDir } = config;
  if (typeof stateDir === "string") config["stateDir"] = resolve(cwd, stateDir);
  for (const section of Object.values(config)) Object.freeze(section);
  // The table has exactly the keys of the type, each of the right kind: the compiler checks the table.
  return Object.freeze(config) as unknown as Config;
}
