import { Fields } from "./fields.ts";
import { commandArgument, type Kind, numberBetween, text, wholeNumber, yesOrNo } from "./kinds.ts";
import { readModelName } from "./model-name.ts";
import type { Place } from "./place.ts";
import { readBudget } from "./read-budget.ts";
import { definitionLimits, type WorkDefinition } from "./team-definition.ts";

/** `file`: YAML or JSON, which cannot hold code. */
export type Form = "module" | "file";

const instructions = text(definitionLimits.instructionsBytes);
const argv = "a list of program and arguments (there is no shell)";

/** Keys that mean something for one kind of work only. */
const keysOfKind = {
  model: ["fallbackModels", "tools", "maxSteps", "maxTimeMs", "maxOutputTokens", "temperature"],
  command: ["reserve", "network", "env", "readable", "writable"],
} as const;

/** Which of them there are says what kind of work it is. */
const kindKeys = ["run", "command", "instructions", "model"];
const kinds: ReadonlyMap<string, WorkDefinition["kind"]> = new Map([
  ["run", "function"],
  ["command", "command"],
  ["command and instructions", "command"],
  ["instructions", "model"],
  ["instructions and model", "model"],
]);

const variableName: Kind<string> = {
  allowed: "the name of an environment variable",
  read: (value) =>
    typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(value) ? value : undefined,
};

const place: Kind<string> = {
  allowed: "an absolute path, or one that begins with ~/",
  read: (value) =>
    typeof value === "string" &&
    value.length < 1_000 &&
    /^(?:~\/|\/)[^/\0]/.test(value) &&
    !value.split("/").some((part) => part === "." || part === "..")
      ? value
      : undefined,
};

/** What a persona does: exactly one of `run`, `command`, and `instructions` for a model. `undefined` after a problem. */
export function readWork(fields: Fields, form: Form): WorkDefinition | undefined {
  const kind = kindOf(fields, form);
  for (const only of ["model", "command"] as const) {
    for (const key of kind === undefined || kind === only ? [] : keysOfKind[only]) {
      if (fields.has(key)) fields.place.at(key).problem(`has no effect: the work is a ${kind}.`, "key");
    }
  }
  if (kind === "command") return readCommand(fields);
  if (kind === "model") return readModel(fields);
  return kind === "function" ? { kind } : undefined;
}

/** `undefined` after a problem. */
function kindOf(fields: Fields, form: Form): WorkDefinition["kind"] | undefined {
  const { place } = fields;
  const written = kindKeys.filter((key) => fields.has(key)).join(" and ");
  const kind = kinds.get(written);
  const ways = `instructions for a model${form === "file" ? " or a command" : ', a command, or a function "run"'}`;
  if (form === "file" && fields.has("run")) {
    place.at("run").problem(`is for teams in TypeScript or JavaScript: give it ${ways}.`, "key");
    return undefined;
  }
  if (kind === "function") return isFunction(fields) ? kind : undefined;
  if (kind !== undefined) return kind;
  if (written === "") {
    if (kindKeys.every((key) => fields.lacks(key))) place.problem(`has no work: give it ${ways}.`);
  } else if (written === "model") {
    if (fields.lacks("instructions")) place.problem("has a model and no instructions for it.");
  } else {
    place.problem(`has more than one kind of work, ${written}: keep one.`);
  }
  return undefined;
}

function isFunction(fields: Fields): boolean {
  const runs = typeof fields.value("run") === "function";
  if (!runs) fields.place.at("run").problem("is not a function.");
  return runs;
}

function readModel(fields: Fields): WorkDefinition {
  const place = fields.place.at("model");
  const maxTimeMs = fields.read("maxTimeMs", wholeNumber(1_000, 7 * 86_400_000));
  return {
    kind: "model",
    instructions: fields.read("instructions", instructions) ?? "",
    model: fields.has("model") ? (readModelName(fields.value("model"), place) ?? null) : null,
    fallbackModels: readFallbacks(fields),
    maxSteps: fields.read("maxSteps", wholeNumber(1, 1_000)) ?? null,
    ...(maxTimeMs !== undefined && { maxTimeMs }),
    maxOutputTokens: fields.read("maxOutputTokens", wholeNumber(1, 10_000_000)) ?? null,
    temperature: fields.read("temperature", numberBetween(0, 2)) ?? null,
  };
}

function readFallbacks(fields: Fields): readonly string[] {
  const tried = new Set([fields.value("model")]);
  const items = fields.items("fallbackModels", "a list of models", 10) ?? [];
  return items.flatMap(([item, place]) => {
    const model = readModelName(item, place);
    if (model !== undefined && tried.has(model)) place.problem(`is "${model}", which was tried before it.`);
    tried.add(model);
    return model ?? [];
  });
}

function readCommand(fields: Fields): WorkDefinition {
  return {
    kind: "command",
    argv: readArgv(fields, "command"),
    instructions: fields.read("instructions", instructions) ?? null,
    reserve: readBudget(fields, "reserve"),
    network: fields.read("network", yesOrNo) ?? true,
    env: readVariables(fields),
    ...readPlaces(fields, "readable"),
    ...readPlaces(fields, "writable"),
  };
}

/** Left out where there are none, so that a team without them is the team it was. */
function readPlaces<Key extends "readable" | "writable">(
  fields: Fields,
  key: Key,
): { readonly [K in Key]?: readonly string[] } {
  const found = fields.list(key, place, "a list of absolute paths, or of paths that begin with ~/") ?? [];
  return (found.length === 0 ? {} : { [key]: found }) as { readonly [K in Key]?: readonly string[] };
}

/** A command with its arguments, here or in a check. */
export function readArgv(fields: Fields, key: string): readonly string[] {
  const written = fields.value(key);
  // The likely mistake is a line for a shell; its words are probably what was meant.
  if (typeof written === "string" && written.trim() !== "" && written.length < 200) {
    const words = written.trim().split(/\s+/);
    const list = words.map((word) => JSON.stringify(word)).join(", ");
    fields.place.at(key).problem(`is a text; it must be ${argv}, such as [${list}].`);
    return [];
  }
  const items = fields.list(key, commandArgument, argv);
  const program: unknown = Array.isArray(written) ? (written[0] ?? "") : undefined;
  if (typeof program === "string" && program.trim() === "") {
    fields.place.at(key).problem(`names no program; it must be ${argv}.`);
  }
  return items ?? [];
}

/** A value that stands beside its name is not shown: it is probably a secret. */
function readVariables(fields: Fields): readonly string[] {
  const allowed = "a list of names of environment variables; values come from the environment";
  const names = fields.items("env", allowed) ?? [];
  const read = ([item, place]: readonly [unknown, Place]): readonly string[] => {
    const name = variableName.read(item);
    if (name === undefined) {
      place.problem("is not the name of an environment variable; values come from the environment.");
    }
    return name === undefined ? [] : [name];
  };
  return [...new Set(names.flatMap(read))];
}
