import type { JsonObject } from "../../domain/json.ts";
import { isName, nameRule } from "../../domain/names.ts";
import { definitionLimits } from "./limits.ts";
import type { Place } from "./place.ts";
import { shown } from "./shown.ts";

/** A type of value: its wording for errors and docs, its JSON Schema, and its reader. */
export interface Kind<T, Written = T> {
  /** "a whole number from 1 to 100". */
  readonly allowed: string;
  readonly schema: JsonObject;
  /** Reports each problem at the place. Undefined if the value cannot be used. */
  readonly read: (value: unknown, place: Place) => T | undefined;
  /** Carries the type of the written form. Never set. */
  readonly written?: Written;
}

/** A kind without parts: the value fits, or one problem says what is allowed. */
export function plain<T, Written = T>(
  allowed: string,
  schema: JsonObject,
  accept: (value: unknown) => T | undefined,
): Kind<T, Written> {
  return {
    allowed,
    schema,
    read: (value, place) => {
      const accepted = accept(value);
      if (accepted === undefined) place.problem(`is ${shown(value)}; it must be ${allowed}.`);
      return accepted;
    },
  };
}

export const text = (maxBytes: number): Kind<string> =>
  plain(
    `a text of at most ${maxBytes} bytes that is not empty`,
    { type: "string", pattern: "\\S", maxLength: maxBytes },
    (value) =>
      typeof value === "string" &&
      value.trim() !== "" &&
      !value.includes("\0") &&
      Buffer.byteLength(value) <= maxBytes
        ? value
        : undefined,
  );

export const wholeNumber = (least: number, most: number): Kind<number> =>
  plain(
    `a whole number from ${least} to ${most}`,
    { type: "integer", minimum: least, maximum: most },
    (value) =>
      typeof value === "number" && Number.isInteger(value) && value >= least && value <= most
        ? value
        : undefined,
  );

export const numberBetween = (least: number, most: number, allowed?: string): Kind<number> =>
  plain(
    allowed ?? `a number from ${least} to ${most}`,
    { type: "number", minimum: least, maximum: most },
    // Every comparison with NaN is false, so NaN is refused.
    (value) => (typeof value === "number" && value >= least && value <= most ? value : undefined),
  );

export const yesOrNo: Kind<boolean> = plain("true or false", { type: "boolean" }, (value) =>
  typeof value === "boolean" ? value : undefined,
);

export const onOrOff: Kind<boolean, boolean | "on" | "off"> = plain(
  "on or off",
  { enum: ["on", "off", true, false] },
  (value) =>
    typeof value === "boolean" ? value : value === "on" ? true : value === "off" ? false : undefined,
);

export const oneOf = <const T extends string>(...words: readonly T[]): Kind<T> =>
  plain(words.map((word) => `"${word}"`).join(" or "), { enum: words }, (value) =>
    words.find((word) => word === value),
  );

export const nameSchema = { type: "string", pattern: "^[A-Za-z][A-Za-z0-9_-]{0,63}$" } as const;

export const name: Kind<string> = plain(`a name. ${nameRule}`.replace(/\.$/, ""), nameSchema, (value) =>
  typeof value === "string" && isName(value) ? value : undefined,
);

/** A name that is looked up later, with the closest known name as a hint. */
export const reference = (allowed: string): Kind<string> =>
  plain(allowed, { type: "string", minLength: 1 }, (value) =>
    typeof value === "string" && value !== "" ? value : undefined,
  );

const maxGlobLength = 1_000;

/** Judged by its spelling. The workspace itself guards against symbolic links. */
export const glob: Kind<string> = plain(
  "a relative path or glob that stays inside the workspace",
  {
    type: "string",
    pattern: "^(?![/\\\\]|[A-Za-z]:)(?!(?:.*[/\\\\])?\\.\\.(?:[/\\\\]|$))(?=.*\\S)[^\\u0000\\n\\r]+$",
    maxLength: maxGlobLength,
  },
  acceptGlob,
);

function acceptGlob(value: unknown): string | undefined {
  return typeof value === "string" &&
    value.trim() !== "" &&
    value.length <= maxGlobLength &&
    !/^[/\\]|^[A-Za-z]:|[\0\n\r]/.test(value) &&
    !value.split(/[/\\]/).includes("..")
    ? value.replace(/^(?:\.\/+)+/, "")
    : undefined;
}

/** `package.json#scripts` names one member of a JSON file. */
export const fileOrMember: Kind<string> = plain(
  "a glob, or a glob with a member of its JSON files such as package.json#scripts",
  { allOf: [glob.schema, { pattern: "^[^#]+(?:#[^#]+)?$" }] },
  (value) => {
    const accepted = acceptGlob(value);
    return accepted !== undefined && /^[^#]+(?:#[^#]+)?$/.test(accepted) ? accepted : undefined;
  },
);

export const outsidePath: Kind<string> = plain(
  "an absolute path, or one that begins with ~/",
  { type: "string", pattern: "^(?:~/|/)(?!(?:.*/)?\\.{1,2}(?:/|$))[^/\\u0000]", maxLength: 999 },
  (value) =>
    typeof value === "string" &&
    value.length < 1_000 &&
    /^(?:~\/|\/)[^/\0]/.test(value) &&
    !value.split("/").some((part) => part === "." || part === "..")
      ? value
      : undefined,
);

/** The value is never shown, because `NAME=value` is likely to contain a secret. */
export const variableName: Kind<string> = {
  allowed: "the name of an environment variable",
  schema: { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]{0,199}$" },
  read: (value, place) => {
    if (typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(value)) return value;
    place.problem("is not the name of an environment variable; values come from the environment.");
    return undefined;
  },
};

interface ListOptions {
  readonly allowed: string;
  readonly most?: number;
}

/** Reads each item at its own place. Keeps the valid items if others are wrong. */
export function list<T, Written = T>(
  item: Kind<T, Written>,
  { allowed, most = definitionLimits.listItems }: ListOptions,
): Kind<readonly T[], readonly Written[]> {
  return {
    allowed,
    schema: { type: "array", items: item.schema, ...(Number.isFinite(most) && { maxItems: most }) },
    read: (value, place) =>
      itemsOf(value, place, allowed, most)?.flatMap(([one, at]) => item.read(one, at) ?? []),
  };
}

/** The items of a list with their places; undefined after a problem. */
export function itemsOf(
  value: unknown,
  place: Place,
  allowed: string,
  most: number = definitionLimits.listItems,
): readonly (readonly [unknown, Place])[] | undefined {
  if (!Array.isArray(value)) {
    const example = typeof value === "string" ? `, such as [${shown(value)}]` : "";
    place.problem(`is ${shown(value)}; it must be ${allowed}${example}.`);
    return undefined;
  }
  if (value.length > most) {
    place.problem(`has ${value.length} items; at most ${most} are allowed.`);
    return undefined;
  }
  return Array.from(value as readonly unknown[], (item, index) => [item, place.at(index)] as const);
}

/** A list without repeated items. */
export function set<T extends string>(item: Kind<T>, options: ListOptions): Kind<readonly T[]> {
  const items = list(item, options);
  return {
    ...items,
    schema: { ...items.schema, uniqueItems: true },
    read: (value, place) => {
      const found = items.read(value, place);
      return found && [...new Set(reportTwice(found, place, (one) => one))];
    },
  };
}

/** A variable that is named twice is passed through once. */
export const uniqueVariables: Kind<readonly string[]> = uniqueItems(
  list(variableName, {
    allowed: "a list of names of environment variables; values come from the environment",
  }),
);

function uniqueItems(items: Kind<readonly string[]>): Kind<readonly string[]> {
  return {
    ...items,
    read: (value, place) => {
      const found = items.read(value, place);
      return found && [...new Set(found)];
    },
  };
}

/** A list of objects whose names differ. */
export function namedList<T extends { readonly name: string }, Written>(
  item: Kind<T, Written>,
  options: ListOptions,
): Kind<readonly T[], readonly Written[]> {
  const items = list(item, options);
  return {
    ...items,
    read: (value, place) => {
      const found = items.read(value, place);
      return found && reportTwice(found, place, ({ name }) => name);
    },
  };
}

function reportTwice<T>(items: readonly T[], place: Place, keyOf: (item: T) => string): readonly T[] {
  const seen = new Set<string>();
  for (const item of items) {
    const key = keyOf(item);
    if (seen.has(key)) place.problem(`has ${shown(key)} twice.`);
    seen.add(key);
  }
  return items;
}

const maxArgumentLength = 32_768;

const argument: Kind<string> = plain(
  `a text of at most ${maxArgumentLength} characters`,
  { type: "string", pattern: "^[^\\u0000]*$", maxLength: maxArgumentLength },
  (value) =>
    typeof value === "string" && value.length <= maxArgumentLength && !value.includes("\0")
      ? value
      : undefined,
);

const argv = list(argument, { allowed: "a list of program and arguments (there is no shell)" });

export const commandLine: Kind<readonly string[]> = {
  ...argv,
  schema: {
    ...argv.schema,
    minItems: 1,
    prefixItems: [{ ...argument.schema, pattern: "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$" }],
  },
  read: (value, place) => {
    // The likely mistake is one shell command line, so show it as a list.
    if (typeof value === "string" && value.trim() !== "" && value.length < 200) {
      const parts = value.trim().split(/\s+/);
      const example = parts.map((part) => JSON.stringify(part)).join(", ");
      place.problem(`is a text; it must be ${argv.allowed}, such as [${example}].`);
      return [];
    }
    const items = argv.read(value, place);
    const program: unknown = Array.isArray(value) ? (value[0] ?? "") : undefined;
    if (typeof program === "string" && program.trim() === "") {
      place.problem(`names no program; it must be ${argv.allowed}.`);
    }
    return items ?? [];
  },
};

/** A value that another reader checks, because it needs the rest of the team. */
export const readLater = <Written>(allowed: string, schema: JsonObject): Kind<unknown, Written> => ({
  allowed,
  schema,
  read: (value) => value,
});
