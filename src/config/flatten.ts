import { didYouMean } from "../domain/closest.ts";
import type { SettingKey } from "./config.ts";
import { isSettingKey, settingKeys } from "./settings.ts";
import { showValue } from "./show-value.ts";

export interface Flattened {
  readonly values: ReadonlyMap<SettingKey, unknown>;
  readonly problems: readonly { readonly keyPath: readonly string[]; readonly sentence: string }[];
}

const sections = new Set(settingKeys.filter((key) => key.includes(".")).map((key) => key.split(".")[0]));

/** A stranger's file can have a hundred thousand problems, and each costs a search for its line and closest name. */
const mostProblems = 20;
const longestName = 80;

/** Turns a nested object of unknown shape into values by dotted key. Descends only into sections. */
export function flatten(content: unknown): Flattened {
  const values = new Map<SettingKey, unknown>();
  const problems: { keyPath: readonly string[]; sentence: string }[] = [];

  function walk(value: unknown, keyPath: readonly string[]): void {
    if (!isPlainObject(value)) {
      const what = keyPath.length === 0 ? "the configuration" : keyPath.join(".");
      problems.push({ keyPath, sentence: `${what} must be an object of settings, not ${showValue(value)}.` });
      return;
    }
    for (const name of Object.keys(value)) {
      if (problems.length >= mostProblems) return;
      const path = [...keyPath, name];
      const key = path.join(".");
      if (value[name] === undefined) continue;
      // Otherwise a dot inside a name would look like a section.
      if (name.includes(".")) problems.push({ keyPath: path, sentence: nested(key) });
      else if (isSettingKey(key)) values.set(key, value[name]);
      else if (keyPath.length === 0 && sections.has(name)) walk(value[name], path);
      else problems.push({ keyPath: path, sentence: unknown(key, keyPath) });
    }
  }

  // An empty YAML file is an empty configuration.
  walk(content ?? {}, []);
  return { values, problems };
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Accepts objects of another realm, but not an object literal with its own `__proto__`.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

const shortened = (key: string): string => (key.length > longestName ? `${key.slice(0, longestName)}…` : key);

function nested(key: string): string {
  return `"${shortened(key)}" has a dot in its name; settings of a section are nested objects, as in attempts: { max: 3 }.`;
}

function unknown(key: string, keyPath: readonly string[]): string {
  if (key.endsWith("__proto__")) return `the key "${shortened(key)}" is refused.`;
  const siblings =
    keyPath.length === 0
      ? [...new Set(settingKeys.map((known) => known.split(".")[0] ?? known))]
      : settingKeys.filter((known) => known.startsWith(`${keyPath.join(".")}.`));
  return `there is no setting "${shortened(key)}".${didYouMean(shortened(key), siblings)} Known here: ${siblings.join(", ")}.`;
}
