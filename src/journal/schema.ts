import { isJsonObject, type Json, type JsonObject } from "../domain/json-value.ts";
import { isName, nameRule } from "../domain/names.ts";
import { isPriority, priorities } from "../domain/queue.ts";

/** Why a value is refused: `phases[2].name must be a string`. */
export interface Fault {
  readonly path: string;
  readonly problem: string;
}

declare const type: unique symbol;

/**
 * The form of a recorded value. Types are inferred from it. It checks rows from outside, never rows that are
 * appended.
 */
export interface Schema<T> {
  readonly check: (value: unknown, path: string) => Fault | undefined;
  readonly [type]?: () => T;
}

export interface Optional<T> {
  readonly optional: Schema<T>;
}

export type TypeOf<S> = S extends Schema<infer T> ? T : never;

type Field<T> = Schema<T> | Optional<T>;
export type Fields = Readonly<Record<string, Field<unknown>>>;

type OptionalKey<F> = { [Key in keyof F]: F[Key] extends Optional<unknown> ? Key : never }[keyof F];

type Flat<T> = { readonly [Key in keyof T]: T[Key] };

/** The fields of each variant, if there are several. */
export type FieldsOf<F> = F extends Fields
  ? Flat<
      { [Key in Exclude<keyof F, OptionalKey<F>>]: TypeOf<F[Key]> } & {
        [Key in OptionalKey<F>]?: F[Key] extends Optional<infer T> ? T : never;
      }
    >
  : never;

/** The fields of a type that is declared elsewhere. A missing or different one does not compile. */
export type FieldsFor<T> = {
  readonly [Key in keyof T]-?: undefined extends T[Key]
    ? Optional<Exclude<T[Key], undefined>>
    : Schema<T[Key]>;
};

/** Like `FieldsFor` for a union, keyed by the value that distinguishes its members. */
export type VariantsFor<T extends Record<Tag, string>, Tag extends string> = {
  readonly [Value in T[Tag]]: FieldsFor<Omit<Extract<T, Readonly<Record<Tag, Value>>>, Tag>>;
};

/** An object has the fields of exactly one variant. Variants differ in their literals. */
export interface ObjectSchema<T> extends Schema<T> {
  readonly variants: readonly Fields[];
}

/** Limits of one value. The parser bounds the whole text and its depth. */
const limits = { items: 100_000, textLength: 32 * 1024 * 1024, labelLength: 10_000 } as const;

const when = <T>(test: (value: unknown) => boolean, problem: string): Schema<T> => ({
  check: (value, path) => (test(value) ? undefined : { path, problem }),
});

const isText = (value: unknown, most: number): value is string =>
  typeof value === "string" && value.length <= most;

export const text: Schema<string> = when(
  (value) => isText(value, limits.textLength),
  `must be a string of at most ${limits.textLength} characters`,
);
/** A short text: a title, an id, a model name. */
export const label: Schema<string> = when(
  (value) => isText(value, limits.labelLength),
  `must be a string of at most ${limits.labelLength} characters`,
);
/** The name of a phase or persona, which becomes part of file names. */
export const name: Schema<string> = when(
  (value) => isText(value, limits.labelLength) && isName(value),
  `must be a name. ${nameRule}`,
);
/** A SHA-256 in hexadecimal: an artifact, a tree, a seal. */
export const sha256: Schema<string> = when(
  (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value),
  "must be a SHA-256 of 64 hexadecimal digits",
);
/** The hash of a row in the journal's chain, or in a fork's rows, which are copies with their own digest. */
export const headHash: Schema<string> = when(
  (value) => typeof value === "string" && /^(?:[\w-]{43}|[0-9a-f]{64})$/.test(value),
  "must be a SHA-256",
);
export const day: Schema<string> = when(
  (value) =>
    typeof value === "string" && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)),
  "must be a day such as 2030-01-31",
);
export const boolean: Schema<boolean> = when((value) => typeof value === "boolean", "must be true or false");
/** Sums of money, tokens and times: beyond 2^53 - 1 they would be rounded. */
export const whole: Schema<number> = when(
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  "must be a whole number from 0 to 2^53 - 1",
);
/** Milliseconds since 1970. JavaScript has no later date. */
const latestTime = 8.64e15;
export const time: Schema<number> = when(
  (value) => Number.isFinite(value) && (value as number) >= 0 && (value as number) <= latestTime,
  "must be a time in milliseconds",
);
/** The time a row was appended: a whole number, like its column. */
export const moment: Schema<number> = when(
  (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= latestTime,
  "must be a time in milliseconds",
);
/** The seq of a row. Later rows must have room above it. */
const largestSeq = 2 ** 48;
export const seq: Schema<number> = when(
  (value) => Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= largestSeq,
  "must be a whole number from 1 to 2^48",
);
/** Numbers that start at 1. */
export const positive: Schema<number> = when(
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
  "must be a whole number from 1 to 2^53 - 1",
);
export const priority: Schema<number> = when(
  isPriority,
  `must be a whole number from ${priorities.least} to ${priorities.most}`,
);
/** Bounded, so that derived times and sums stay finite. */
export const number: Schema<number> = when(
  (value) => Number.isFinite(value) && Math.abs(value as number) <= Number.MAX_SAFE_INTEGER,
  "must be a number from -(2^53 - 1) to 2^53 - 1",
);
/** Its depth is bounded where the text is parsed. */
export const json: Schema<Json> = when((value) => value !== undefined, "is missing");
export const jsonObject: Schema<JsonObject> = when((value) => isJsonObject(value), "must be an object");

export interface Literal<T> extends Schema<T> {
  readonly literals: readonly T[];
}

/** One of these values. Unions select their variant by them. */
export const literal = <const T extends string | boolean>(...literals: readonly T[]): Literal<T> => ({
  literals,
  ...when<T>(
    (value) => (literals as readonly unknown[]).includes(value),
    `must be ${literals.map((each) => JSON.stringify(each)).join(" or ")}`,
  ),
});

export const optional = <T>(schema: Schema<T>): Optional<T> => ({ optional: schema });

export const nullable = <T>(schema: Schema<T>): Schema<T | null> => ({
  check: (value, path) => (value === null ? undefined : schema.check(value, path)),
});

export const either = <One, Other>(one: Schema<One>, other: Schema<Other>): Schema<One | Other> => ({
  check: (value, path) => (one.check(value, path) === undefined ? undefined : other.check(value, path)),
});

/** For a schema that contains itself. */
export const lazy = <T>(schema: () => Schema<T>): Schema<T> => ({
  check: (value, path) => schema().check(value, path),
});

export const list = <T>(item: Schema<T>, most: number = limits.items): Schema<readonly T[]> => ({
  check(value, path) {
    if (!Array.isArray(value) || value.length > most)
      return { path, problem: `must be a list of at most ${most} items` };
    return firstFault(value, (each, index) => item.check(each, `${path}[${index}]`));
  },
});

export const pair = <T>(item: Schema<T>): Schema<readonly [T, T]> => ({
  check: (value, path) =>
    Array.isArray(value) && value.length === 2
      ? firstFault(value, (each, index) => item.check(each, `${path}[${index}]`))
      : { path, problem: "must be a list of two items" },
});

export const record = <T>(
  item: Schema<T>,
  key: Schema<string> = label,
): Schema<Readonly<Record<string, T>>> => ({
  check(value, path) {
    if (!isJsonObject(value)) return { path, problem: "must be an object" };
    return firstFault(
      Object.entries(value),
      ([field, each]) => key.check(field, pathTo(path, field)) ?? item.check(each, pathTo(path, field)),
    );
  },
});

export const object = <const F extends Fields>(fields: F): ObjectSchema<FieldsOf<F>> => objectOf([fields]);

export const union = <const F extends readonly Fields[]>(...variants: F): ObjectSchema<FieldsOf<F[number]>> =>
  objectOf(variants);

export const objectFor = <T>(fields: FieldsFor<T>): Schema<T> => objectOf([fields as unknown as Fields]);

export const unionFor = <T extends Record<Tag, string>, Tag extends string>(
  tag: Tag,
  variants: VariantsFor<T, Tag>,
): Schema<T> =>
  objectOf(
    Object.entries<Fields>(variants as unknown as Readonly<Record<string, Fields>>).map(
      ([value, fields]) => ({
        [tag]: literal(value),
        ...fields,
      }),
    ),
  );

/** Requires at least these fields, for a document that another folder owns. */
export const loose = (fields: Fields): Schema<Json> => ({
  check(value, path) {
    if (!isJsonObject(value)) return { path, problem: "must be an object" };
    return fieldFault(fields, value, path);
  },
});

/** Adds fields to every variant. */
export const extend = <T, const F extends Fields>(
  { variants }: ObjectSchema<T>,
  fields: F,
): ObjectSchema<T & FieldsOf<F>> => objectOf(variants.map((variant) => ({ ...variant, ...fields })));

function objectOf<T>(variants: readonly Fields[]): ObjectSchema<T> {
  return {
    variants,
    check(value, path) {
      if (!isJsonObject(value)) return { path, problem: "must be an object" };
      const chosen = variantOf(variants, value, path);
      if ("fault" in chosen) return chosen.fault;
      const { fields } = chosen;
      const unknown = Object.keys(value).find((key) => !Object.hasOwn(fields, key));
      if (unknown !== undefined) return { path: pathTo(path, unknown), problem: "is not a known field" };
      return fieldFault(fields, value, path);
    },
  };
}

function fieldFault(fields: Fields, value: JsonObject, path: string): Fault | undefined {
  return firstFault(Object.entries(fields), ([key, field]) => {
    const has = Object.hasOwn(value, key);
    const at = pathTo(path, key);
    if ("optional" in field) return has ? field.optional.check(value[key], at) : undefined;
    return has ? field.check(value[key], at) : { path: at, problem: "is missing" };
  });
}

/** The variant whose literals match the value. Otherwise names the first field that matches none. */
function variantOf(
  variants: readonly Fields[],
  value: JsonObject,
  path: string,
): { readonly fields: Fields } | { readonly fault: Fault } {
  let left = variants;
  for (const key of new Set(variants.flatMap((fields) => Object.keys(fields)))) {
    const known = left.flatMap((fields) => literalsOf(fields[key]) ?? []);
    if (known.length === 0) continue;
    left = left.filter((fields) => literalsOf(fields[key])?.includes(value[key]) !== false);
    if (left.length === 0)
      return { fault: literal(...(known as string[])).check(value[key], pathTo(path, key)) as Fault };
  }
  return { fields: left[0] ?? {} };
}

const literalsOf = (field: Field<unknown> | undefined): readonly unknown[] | undefined =>
  field !== undefined && "literals" in field ? (field as Literal<unknown>).literals : undefined;

function firstFault<T>(
  items: readonly T[],
  check: (item: T, index: number) => Fault | undefined,
): Fault | undefined {
  for (const [index, item] of items.entries()) {
    const fault = check(item, index);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Keys of hostile content may be long. */
const pathTo = (path: string, key: string): string => {
  const shown = key.length > 80 ? `${key.slice(0, 80).toWellFormed()}…` : key;
  return path === "" ? shown : `${path}.${shown}`;
};
