import type { Json } from "../domain/json.ts";
import type { SettingKey } from "./config.ts";
import type { LoadedConfig } from "./load.ts";
import { describeOrigin } from "./origin.ts";
import { settingKeys, settings } from "./settings.ts";

/** One line of `maestro config`. */
export interface DescribedSetting {
  readonly key: SettingKey;
  /** `null`: not set. A secret is "set" or "not set", never shown. */
  readonly value: Json;
  readonly origin: string;
  readonly environment: string;
  readonly description: string;
}

export function describeConfig(loaded: LoadedConfig): DescribedSetting[] {
  return settingKeys.map((key) => {
    const { environment, description, secret } = settings[key];
    const value = valueAt(loaded.config, key);
    return {
      key,
      value: secret ? (value === undefined ? "not set" : "set") : (value ?? null),
      origin: describeOrigin(loaded.origins.get(key) ?? { kind: "default" }),
      environment,
      description,
    };
  });
}

/** The value on one line. */
export function showSetting(value: Json): string {
  if (value === null) return "-";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function valueAt(config: object, key: SettingKey): Json | undefined {
  let value: unknown = config;
  for (const name of key.split(".")) value = (value as Record<string, unknown>)[name];
  return value as Json | undefined;
}
