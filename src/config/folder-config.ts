import { dirname } from "node:path";
import { advise, quote } from "../domain/advice.ts";
import { NotTrusted } from "../domain/errors.ts";
import type { SettingKey } from "./config.ts";
import { type FoundConfig, findFolderConfig, importsOf, readConfig } from "./config-file.ts";
import { fileLayer, type Layer } from "./layers.ts";
import { settings } from "./settings.ts";
import { fileIn, isTrusted, type TrustedFile } from "./trust-store.ts";

/** The configuration of the folder in which a command starts: untrusted until a person trusts it. */
export interface FolderConfig extends TrustedFile {
  readonly isTrusted: boolean;
  /** Undefined for code that was not run. */
  readonly layer: Layer | undefined;
}

/** Runs the code of a configuration only for a command that acts, and only if a person trusted this content. */
export async function readFolderConfig(
  found: FoundConfig,
  env: NodeJS.ProcessEnv,
  onlyLooks: boolean,
): Promise<FolderConfig> {
  const file = { path: await fileIn(found.path), sha256: found.sha256 };
  const trusted = await isTrusted(file, env);
  if (found.isCode && onlyLooks) return { ...file, isTrusted: trusted, layer: undefined };
  if (found.isCode && !trusted) throw notTrusted(file, ...codeDemands(found));
  return { ...file, isTrusted: trusted, layer: await fileLayer(await readConfig(found), "file") };
}

const codeDemands = (found: FoundConfig): readonly string[] => [
  "It is code, and would run as you, with all that it imports.",
  ...importsOf(found, dirname(found.path)).map((path) => `It imports ${quote(path)}.`),
];

/** The settings of a folder's configuration that need trust. */
export async function configDemands(folder: string): Promise<(TrustedFile & Demanding) | undefined> {
  const found = await findFolderConfig(folder);
  if (found === undefined) return undefined;
  const file = { path: await fileIn(found.path), sha256: found.sha256 };
  if (found.isCode) return { ...file, demands: codeDemands(found) };
  const layer = await fileLayer(await readConfig(found), "file");
  return { ...file, demands: await settingDemands(layer, needTrust(layer)) };
}

export interface Demanding {
  readonly demands: readonly string[];
}

export const needTrust = (layer: Layer): readonly SettingKey[] =>
  [...layer.values.keys()].filter((key) => settings[key].needsTrust !== null);

export function withoutNeedOfTrust(layer: Layer): Layer {
  const values = new Map([...layer.values].filter(([key]) => settings[key].needsTrust === null));
  return { ...layer, values };
}

export async function untrustedSettings(
  file: TrustedFile,
  layer: Layer,
  keys: readonly SettingKey[],
): Promise<NotTrusted> {
  return notTrusted(file, ...(await settingDemands(layer, keys)));
}

async function settingDemands(layer: Layer, keys: readonly SettingKey[]): Promise<readonly string[]> {
  return Promise.all(
    keys.map(async (key) => {
      const line = await layer.lineOf?.(key);
      return `It sets ${key}${line === undefined ? "" : ` (line ${line})`}: ${settings[key].needsTrust}.`;
    }),
  );
}

const notTrusted = ({ path, sha256 }: TrustedFile, ...demands: readonly string[]): NotTrusted =>
  new NotTrusted(`You have not trusted ${path}.\n${demands.join("\n")}`, {
    details: { path, sha256, demands },
    advice: advise("Read it first. If you trust it", "trust", dirname(path)),
  });
