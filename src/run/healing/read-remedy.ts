import { InputInvalid } from "../../domain/errors.ts";
import type { AttemptSettings, HealingAction } from "../../domain/healing-action.ts";
import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { isPackageName } from "./declared-package.ts";
import type { Remedy } from "./healer.ts";

type Rule = readonly [holds: (value: Json | undefined) => boolean, says: string];

const maxWords = 1000;
const maxModelName = 200;

const isText = (value: Json | undefined): value is string => typeof value === "string" && value.trim() !== "";

const isNumber = (value: Json | undefined): value is number => typeof value === "number";

const settingRules = {
  model: [(value) => isText(value) && value.length <= maxModelName, "the name of a model"],
  contextShare: [(value) => isNumber(value) && value >= 0 && value <= 1, "a number from 0 to 1"],
  timeoutMs: [(value) => isNumber(value) && value >= 1, "a number of milliseconds, 1 or more"],
  maxOutputTokens: [
    (value) => Number.isSafeInteger(value) && Number(value) >= 1,
    "a whole number of tokens, 1 or more",
  ],
} as const satisfies Readonly<Record<keyof AttemptSettings, Rule>>;

/** Checks a healer's answer: it may be written without types, and the next attempts depend on it. */
export function readRemedy(answered: Json): Remedy {
  const { action, outputs, settings } = object(answered, "the remedy");
  return {
    action: typeof action === "string" ? wordsOf(action) : actionOf(object(action, "action")),
    ...(outputs !== undefined && { outputs: object(outputs, "outputs") }),
    ...(settings !== undefined && { settings: settingsOf(settings) }),
  };
}

function actionOf(action: JsonObject): HealingAction {
  const { kind } = action;
  check(isText(kind), "action.kind", "a text");
  switch (kind as string) {
    case "ran-tool":
      check(isListOf(action["argv"], isText), "argv", "a list of strings");
      break;
    case "installed-dependency":
      check(isPackageName(action["name"]), "name", "the name of a package");
      check(isText(action["version"]), "version", "the version of the package");
      break;
    case "fixed-imports":
      check(isListOf(action["imports"], isImport), "imports", "a list of { path, from, to }");
      break;
    case "shortened-context":
      setting("contextShare", action["to"], "to");
      break;
    case "switched-model":
      check(isText(action["from"]), "from", "the name of a model");
      setting("model", action["to"], "to");
      break;
    case "raised-limit": {
      const { limit } = action;
      check(limit === "timeoutMs" || limit === "maxOutputTokens", "limit", "timeoutMs or maxOutputTokens");
      check(isNumber(action["from"]), "from", "a number");
      setting(limit as "timeoutMs" | "maxOutputTokens", action["to"], "to");
      break;
    }
    case "custom": {
      const words = wordsOf(action["words"]);
      const changed = action["settings"];
      const custom = { kind: "custom", words, paths: [], members: [] } as const;
      if (changed === undefined) return custom;
      return { ...custom, settings: { from: {}, to: settingsOf(object(changed, "settings")["to"]) } };
    }
    default:
    // Other kinds claim nothing that needs a check, and an unknown kind is only a label.
  }
  return action as unknown as HealingAction;
}

/** The known settings. A healer cannot set others. */
function settingsOf(given: Json | undefined): AttemptSettings {
  const asked = object(given, "settings");
  const names = Object.keys(settingRules) as (keyof AttemptSettings)[];
  const set = names.filter((name) => asked[name] !== undefined);
  for (const name of set) setting(name, asked[name], `settings.${name}`);
  return Object.fromEntries(set.map((name) => [name, asked[name]]));
}

function setting(name: keyof AttemptSettings, value: Json | undefined, where: string): void {
  const [holds, says] = settingRules[name];
  check(holds(value), where, says);
}

function wordsOf(words: Json | undefined): string {
  check(isText(words), "action", "a text, or an action with a kind");
  return (words as string).slice(0, maxWords);
}

function object(value: Json | undefined, where: string): JsonObject {
  check(isJsonObject(value), where, "an object");
  return value as JsonObject;
}

const isListOf = (value: Json | undefined, holds: (item: Json) => boolean): boolean =>
  Array.isArray(value) && value.every(holds);

const isImport = (value: Json): boolean =>
  isJsonObject(value) && [value["path"], value["from"], value["to"]].every(isText);

function check(holds: boolean, where: string, says: string): void {
  if (!holds) throw new InputInvalid(`The healer's answer is invalid: ${where} must be ${says}.`);
}
