import { didYouMean } from "../domain/closest.ts";
import type { ConfigOverrides, SettingKey } from "./config.ts";
import type { ConfigFile } from "./config-file.ts";
import { flatten } from "./flatten.ts";
import type { Origin } from "./origin.ts";
import { settingKeys, settings } from "./settings.ts";
import { trustVariable, trustVariableProblem } from "./trust-variable.ts";

/** The raw values of one source, and the source's own problems. */
export interface Layer {
  readonly values: ReadonlyMap<SettingKey, unknown>;
  /** The source has only text, so "3" means 3. */
  readonly isText: boolean;
  readonly originOf: (key: SettingKey) => Origin;
  readonly lineOf?: (key: SettingKey) => Promise<number | undefined>;
  readonly problems: readonly string[];
}

/** Values by dotted key, from the command line. */
export type Flags = { readonly [Key in SettingKey]?: string | number | undefined };

export async function fileLayer(file: ConfigFile, origin: "file" | "user"): Promise<Layer> {
  const { values, problems } = flatten(file.content);
  const place = async (keyPath: readonly string[]) => {
    const line = await file.lineOf(keyPath);
    return line === undefined ? file.path : `${file.path}, line ${line}`;
  };
  return {
    values,
    isText: false,
    originOf: () => ({ kind: origin, file: file.path }),
    lineOf: async (key) => await file.lineOf(key.split(".")),
    problems: await Promise.all(
      problems.map(async ({ keyPath, sentence }) => `${await place(keyPath)}: ${sentence}`),
    ),
  };
}

/** An empty value counts as unset, because that is how shells override a variable. */
export function environmentLayer(env: NodeJS.ProcessEnv): Layer {
  const keyByName = new Map(settingKeys.map((key) => [settings[key].environment, key]));
  const values = new Map<SettingKey, unknown>();
  const problems: string[] = [];
  for (const name of Object.keys(env)
    .filter((name) => keyByName.has(name) || name.startsWith("MAESTRO_"))
    .sort()) {
    const value = env[name];
    if (value === undefined || value === "") continue;
    if (name === trustVariable) {
      problems.push(...[trustVariableProblem(value)].filter((problem) => problem !== undefined));
      continue;
    }
    const key = keyByName.get(name);
    if (key !== undefined) values.set(key, value);
    else {
      const names = [...keyByName.keys(), trustVariable];
      const closest = didYouMean(name, names);
      problems.push(
        `environment: there is no setting ${name}.${closest === "" ? ` Known: ${names.join(", ")}.` : closest}`,
      );
    }
  }
  return {
    values,
    isText: true,
    originOf: (key) => ({ kind: "environment", name: settings[key].environment }),
    problems,
  };
}

export function codeLayer(overrides: ConfigOverrides): Layer {
  const { values, problems } = flatten(overrides);
  return {
    values,
    isText: false,
    originOf: () => ({ kind: "code" }),
    problems: problems.map(({ sentence }) => `open(): ${sentence}`),
  };
}

export function flagLayer(flags: Flags): Layer {
  const given = settingKeys.filter((key) => flags[key] !== undefined);
  return {
    values: new Map(given.map((key) => [key, flags[key]])),
    isText: true,
    originOf: (key) => ({ kind: "flag", name: flagName(key) }),
    problems: [],
  };
}

/** Flags are short: `stateDir` is `--state-dir`, `server.port` is `--port`. */
function flagName(key: SettingKey): string {
  const [name = key] = key.split(".").slice(-1);
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
