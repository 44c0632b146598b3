import type { Json, JsonObject } from "../../domain/json.ts";
import type { Kind } from "./kinds.ts";
import type { Place } from "./place.ts";
import { shown } from "./shown.ts";

/**
 * One key of the team file. The reader, its errors, the TypeScript types, team.schema.json and docs/team-file.md
 * are made from it. `Absent` is the value in the definition if the key is missing: `never` for a required key,
 * `undefined` for one that the definition then omits.
 */
export interface Key<T = unknown, Written = T, Absent = unknown> extends About {
  readonly kind: Kind<T, Written>;
  readonly absence:
    | { readonly kind: "error"; readonly problem?: string; readonly orEmpty: boolean }
    | { readonly kind: "omit" }
    | { readonly kind: "default"; readonly value: Absent };
}

interface About {
  /** The effect of the key, for the docs page and for editors. */
  readonly sentence: string;
  readonly example: Json;
  /** The effect of omitting the key, if the default does not show it. */
  readonly otherwise?: string;
  /** Only for YAML and JSON. */
  readonly fileOnly?: boolean;
}

interface Required extends About {
  /** The end of the sentence when the key is missing; default: `has no "key".`. */
  readonly missing?: string;
  /** An empty list counts as missing. */
  readonly orEmpty?: boolean;
}

export function required<T, Written>(
  kind: Kind<T, Written>,
  { missing, orEmpty = false, ...about }: Required,
): Key<T, Written, never> {
  return {
    ...about,
    kind,
    absence: { kind: "error", orEmpty, ...(missing !== undefined && { problem: missing }) },
  };
}

export const optional = <T, Written>(kind: Kind<T, Written>, about: About): Key<T, Written, undefined> => ({
  ...about,
  kind,
  absence: { kind: "omit" },
});

export const withDefault = <T, Written, const Absent>(
  kind: Kind<T, Written>,
  value: Absent,
  about: About,
): Key<T, Written, Absent> => ({ ...about, kind, absence: { kind: "default", value } });

export type Keys = Readonly<Record<string, Key>>;

/** One object of the team file. */
export interface Section<K extends Keys = Keys> {
  /** Its name in `$defs` of the schema, and its title in the docs. */
  readonly name: string;
  readonly sentence: string;
  /** "an object with threshold and onFail". */
  readonly allowed: string;
  readonly keys: K;
  /** Advice for keys that people write here although their name or place differs. */
  readonly hints?: Readonly<Record<string, string>>;
  /** Schema rules in addition to the keys. */
  readonly schema?: JsonObject;
}

/** Infers the keys of a section. */
export const section = <K extends Keys>(one: Section<K>): Section<K> => one;

type AbsentOf<One> = One extends Key<infer _T, infer _Written, infer Absent> ? Absent : never;
type ValueOf<One> = One extends Key<infer T, infer _Written, infer _Absent> ? T : never;
type WrittenOf<One> = One extends Key<infer _T, infer Written, infer _Absent> ? Written : never;
type RequiredIn<K> = { [N in keyof K]: [AbsentOf<K[N]>] extends [never] ? N : never }[keyof K];
type OmittedIn<K> = { [N in keyof K]: [undefined] extends [AbsentOf<K[N]>] ? N : never }[keyof K];

/** A section as people write it. */
export type Options<K extends Keys> = {
  readonly [N in RequiredIn<K>]: WrittenOf<K[N]>;
} & { readonly [N in Exclude<keyof K, RequiredIn<K>>]?: WrittenOf<K[N]> };

/** A section as the definition records it, with defaults. */
export type Values<K extends Keys> = {
  readonly [N in Exclude<keyof K, OmittedIn<K>>]: ValueOf<K[N]> | AbsentOf<K[N]>;
} & { readonly [N in OmittedIn<K>]?: ValueOf<K[N]> };

type Complete<K extends Keys> = [RequiredIn<K>] extends [never] ? Values<K> : Values<K> | undefined;

/** Reads one object by its section. Continues after a problem, so that all problems are reported at once. */
export class Fields<K extends Keys = Keys> {
  readonly place: Place;
  readonly #keys: K;
  readonly #values: Readonly<Record<string, unknown>>;
  /** Known keys that were probably meant by unknown ones. */
  readonly #meant = new Set<string>();

  private constructor(place: Place, keys: K, values: Readonly<Record<string, unknown>>) {
    this.place = place;
    this.#keys = keys;
    this.#values = values;
  }

  /** `known` narrows or widens the allowed keys, because teams in code have different ones. */
  static of<K extends Keys>(
    value: unknown,
    place: Place,
    { allowed, keys, hints }: Pick<Section<K>, "allowed" | "keys" | "hints">,
    known: readonly string[] = Object.keys(keys),
  ): Fields<K> | undefined {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      place.problem(`is ${shown(value)}; it must be ${allowed}.`);
      return undefined;
    }
    const fields = new Fields(place, keys, value as Readonly<Record<string, unknown>>);
    for (const key of Object.keys(value)) {
      if (!known.includes(key)) fields.#reportUnknown(key, known, hints);
    }
    return fields;
  }

  /** In code, `undefined` means the same as a missing key. */
  has(key: string): boolean {
    return Object.hasOwn(this.#values, key) && this.#values[key] !== undefined;
  }

  /** True if the key is neither present nor misspelled, so that one mistake is one problem. */
  lacks(key: string): boolean {
    return !this.has(key) && !this.#meant.has(key);
  }

  value(key: string): unknown {
    return this.has(key) ? this.#values[key] : undefined;
  }

  /** The value, or the default if the key is missing or wrong; undefined without a default. */
  read<N extends keyof K & string>(
    key: N,
  ): [AbsentOf<K[N]>] extends [never] ? ValueOf<K[N]> | undefined : ValueOf<K[N]> | AbsentOf<K[N]> {
    return this.#read(key) as ReturnType<typeof this.read<N>>;
  }

  /** The values of these keys; undefined if a required one is missing or wrong. */
  all<Part extends Keys>(keys: Part): Complete<Part> {
    const read = Object.keys(keys).map((key) => [key, this.#read(key)] as const);
    const isComplete = read.every(
      ([key, value]) => value !== undefined || keys[key]?.absence.kind !== "error",
    );
    const values = Object.fromEntries(read.filter(([, value]) => value !== undefined));
    return (isComplete ? values : undefined) as Complete<Part>;
  }

  #read(name: string): unknown {
    const key = this.#keys[name];
    if (key === undefined) throw new Error(`the section has no key ${name}`);
    const { kind, absence } = key;
    const value = this.value(name);
    if (absence.kind === "error" && this.#isMissing(name, absence.orEmpty)) {
      this.place.problem(absence.problem ?? `has no "${name}".`);
      return undefined;
    }
    const read = this.has(name) ? kind.read(value, this.place.at(name)) : undefined;
    return read ?? (absence.kind === "default" ? absence.value : undefined);
  }

  #isMissing(key: string, orEmpty: boolean): boolean {
    const value = this.value(key);
    return this.lacks(key) || (orEmpty && Array.isArray(value) && value.length === 0);
  }

  #reportUnknown(key: string, known: readonly string[], hints: Section["hints"]): void {
    const { place } = this;
    const advice = hints !== undefined && Object.hasOwn(hints, key) ? hints[key] : undefined;
    const meant = advice === undefined ? place.problems.closest(key, known) : undefined;
    if (meant !== undefined) this.#meant.add(meant);
    const hint = advice ?? (meant === undefined ? undefined : `Did you mean "${meant}"?`);
    const sentence = `${place.title} has an unknown key ${shown(key)}.${hint === undefined ? "" : ` ${hint}`}`;
    place.problems.add({ path: [...place.path, key], on: "key", sentence });
  }
}

/** A section as the value of a key. */
export const object = <K extends Keys>(section: Section<K>): Kind<Values<K>, Options<K>> => ({
  allowed: section.allowed,
  schema: { $ref: `#/$defs/${section.name}` },
  read: (value, place) => Fields.of(value, place, section)?.all(section.keys),
});
