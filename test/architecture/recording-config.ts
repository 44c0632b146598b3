import type { Config, SettingKey } from "../../src/config/config.ts";

/** A configuration that takes down which of its settings are asked for. */
export function recordReads(config: Config): {
  readonly config: Config;
  readonly read: ReadonlySet<SettingKey>;
} {
  const read = new Set<string>();
  return { config: watch(config, "", read) as Config, read: read as ReadonlySet<SettingKey> };
}

function watch(section: object, prefix: string, read: Set<string>): object {
  // Frozen, and so without the freedom to give anything else than it has: a copy is watched instead.
  const target: object = { ...section };
  /** Who copies a whole section asks for each key's descriptor first. That is no reading: the copy may go unread. */
  let copied: string | symbol | undefined;
  return new Proxy(target, {
    getOwnPropertyDescriptor(_, key) {
      copied = key;
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
    get(_, key) {
      const value: unknown = Reflect.get(target, key);
      const path = prefix + String(key);
      if (typeof value === "object" && value !== null) return watch(value, `${path}.`, read);
      if (copied !== key) read.add(path);
      copied = undefined;
      return value;
    },
  });
}
