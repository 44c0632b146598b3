import { resolve } from "node:path";
import { ConfigInvalid, MaestroError } from "../domain/errors.ts";
import type { Config, ConfigOverrides, SettingKey } from "./config.ts";
import { findFolderConfig, findUserConfig, readConfig } from "./config-file.ts";
import type { FolderConfig } from "./folder-config.ts";
import { codeLayer, environmentLayer, type Flags, fileLayer, flagLayer, type Layer } from "./layers.ts";
import { describeOrigin, type Origin } from "./origin.ts";
import type { Setting } from "./setting.ts";
import { orderedPairs, settingKeys, settings } from "./settings.ts";
import { showValue } from "./show-value.ts";
import { userFolder } from "./user-folder.ts";

export interface LoadOptions {
  readonly cwd?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly flags?: Flags | undefined;
  /** The options of `open()`. */
  readonly overrides?: ConfigOverrides | undefined;
  /** Runs no code, trusted or not. Ignores settings that an untrusted folder may not set, instead of refusing them. */
  readonly onlyLooks?: boolean | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly origins: ReadonlyMap<SettingKey, Origin>;
  /** The files that were found, the user's own last. */
  readonly files: readonly string[];
  /** Only with `onlyLooks`: a sentence about ignored settings of the folder. */
  readonly leftOut: string | undefined;
}

type Chosen = Map<SettingKey, { readonly value: unknown; readonly origin: Origin }>;

/**
 * Precedence: flag, code, environment, folder, user, default. The user's file precedes an untrusted folder. All
 * problems are reported in one error.
 */
export async function loadConfig(options: LoadOptions = {}): Promise<LoadedConfig> {
  const cwd = resolve(options.cwd ?? ".");
  const { env = process.env, onlyLooks = false } = options;
  const problems: string[] = [];
  const user = await readUser(env).catch(noteIn(problems));
  const folder = await readFolder(cwd, env, onlyLooks).catch(noteIn(problems));
  const above = [environmentLayer(env), codeLayer(options.overrides ?? {}), flagLayer(options.flags ?? {})];
  const layersWith = (layer = folder?.layer): readonly Layer[] => {
    const files = folder?.isTrusted === true ? [user?.layer, layer] : [layer, user?.layer];
    return [...files.filter((each) => each !== undefined), ...above];
  };
  problems.push(...layersWith().flatMap((layer) => layer.problems));
  let chosen = await choose(layersWith(), problems);
  const refused = await refusedOf(folder, chosen);
  if (problems.length === 0 && refused !== undefined) {
    if (!onlyLooks) throw refused.error;
    chosen = await choose(layersWith(refused.others), problems);
  }
  for (const pair of orderedPairs) letDefaultGiveWay(chosen, pair);
  problems.push(...wrongOrder(chosen));
  if (problems.length > 0) throw invalid(problems);
  return {
    config: build(chosen, cwd),
    origins: new Map([...chosen].map(([key, { origin }]) => [key, origin])),
    files: [folder?.path, user?.path].filter((path) => path !== undefined),
    leftOut: folder && leftOut(folder, refused?.keys ?? []),
  };
}

async function readUser(
  env: NodeJS.ProcessEnv,
): Promise<{ readonly path: string; readonly layer: Layer } | undefined> {
  const found = await findUserConfig(userFolder(env));
  return found && { path: found.path, layer: await fileLayer(await readConfig(found), "user") };
}

/** Loads the trust code only if the folder has a configuration. */
async function readFolder(
  cwd: string,
  env: NodeJS.ProcessEnv,
  onlyLooks: boolean,
): Promise<FolderConfig | undefined> {
  const found = await findFolderConfig(cwd);
  if (found === undefined) return undefined;
  return (await import("./folder-config.ts")).readFolderConfig(found, env, onlyLooks);
}

const noteIn = (problems: string[]) => (error: unknown) => {
  if (MaestroError.is(error)) throw error;
  problems.push((error as Error).message);
  return undefined;
};

/** Settings that an untrusted folder may not set and that no stronger source replaces. */
async function refusedOf(folder: FolderConfig | undefined, chosen: Chosen) {
  if (folder?.layer === undefined || folder.isTrusted) return undefined;
  const { needTrust, untrustedSettings, withoutNeedOfTrust } = await import("./folder-config.ts");
  const keys = needTrust(folder.layer).filter((key) => chosen.get(key)?.origin.kind === "file");
  if (keys.length === 0) return undefined;
  const error = await untrustedSettings(folder, folder.layer, keys);
  return { keys, error, others: withoutNeedOfTrust(folder.layer) };
}

function leftOut(
  { path, layer, isTrusted }: FolderConfig,
  refused: readonly SettingKey[],
): string | undefined {
  if (layer === undefined) {
    const trust = isTrusted ? "" : " It is not trusted either.";
    return `${path} was not read: it is code, and commands that only look run none.${trust}`;
  }
  if (refused.length === 0) return undefined;
  return `${path} is not trusted, so these of its settings are not used: ${refused.join(", ")}.`;
}

/** Checks every value, including replaced ones, because those may apply later. */
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

/** A maximum wait of 200 ms alone is valid: the default minimum of 1,000 ms then shrinks with it. */
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

/** The nested object for the flat table. */
function build(chosen: Chosen, cwd: string): Config {
  const config: Record<string, unknown> = {};
  for (const [key, { value }] of chosen) {
    const [section, name] = key.split(".") as [string, string?];
    if (name === undefined) config[section] = value;
    else config[section] = { ...(config[section] as object | undefined), [name]: value };
  }
  for (const key of ["stateDir", "providersFrom"]) {
    const folder = config[key];
    if (typeof folder === "string") config[key] = resolve(cwd, folder);
  }
  for (const section of Object.values(config)) Object.freeze(section);
  // The compiler checks that the table has exactly the keys of the type, each of the right kind.
  return Object.freeze(config) as unknown as Config;
}
