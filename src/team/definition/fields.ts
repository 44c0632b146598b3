import type { Kind } from "./kinds.ts";
import type { Place } from "./place.ts";
import { shown } from "./shown.ts";
import { definitionLimits } from "./team-definition.ts";

export interface Shape {
  /** "an object with threshold and onFail". */
  readonly allowed: string;
  readonly keys: readonly string[];
  /** What to say of a key that people write here and that has another name or place. */
  readonly hints?: Readonly<Record<string, string>>;
}

/** The keys of one written object. Reading reports what is wrong and goes on, so that all of it is said at once. */
export class Fields {
  readonly place: Place;
  readonly #values: Readonly<Record<string, unknown>>;
  /** Keys that unknown ones were probably meant to be. */
  readonly #meant = new Set<string>();

  private constructor(place: Place, values: Readonly<Record<string, unknown>>) {
    this.place = place;
    this.#values = values;
  }

  static of(value: unknown, place: Place, shape: Shape): Fields | undefined {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      place.problem(`is ${shown(value)}; it must be ${shape.allowed}.`);
      return undefined;
    }
    const fields = new Fields(place, value as Readonly<Record<string, unknown>>);
    for (const key of Object.keys(value)) {
      if (!shape.keys.includes(key)) fields.#unknown(key, shape);
    }
    return fields;
  }

  /** In code, `undefined` is as good as not written. */
  has(key: string): boolean {
    return Object.hasOwn(this.#values, key) && this.#values[key] !== undefined;
  }

  /** Neither there nor misspelled: one mistake is one problem. */
  lacks(key: string): boolean {
    return !this.has(key) && !this.#meant.has(key);
  }

  /** Lacking, or a list of nothing. */
  isEmpty(key: string): boolean {
    const value = this.value(key);
    return this.lacks(key) || (Array.isArray(value) && value.length === 0);
  }

  value(key: string): unknown {
    return this.has(key) ? this.#values[key] : undefined;
  }

  read<T>(key: string, kind: Kind<T>): T | undefined {
    return this.has(key) ? readAt(this.value(key), this.place.at(key), kind) : undefined;
  }

  required<T>(key: string, kind: Kind<T>): T | undefined {
    if (this.lacks(key)) this.place.problem(`has no "${key}".`);
    return this.read(key, kind);
  }

  /** Each item at its own place; the items that are right, when some are wrong. */
  list<T>(key: string, kind: Kind<T>, allowed: string): readonly T[] | undefined {
    return this.items(key, allowed)?.flatMap(([item, place]) => readAt(item, place, kind) ?? []);
  }

  /** As `list`, and no item may be there twice. */
  set<T extends string>(key: string, kind: Kind<T>, allowed: string): readonly T[] | undefined {
    const items = this.list(key, kind, allowed);
    if (items === undefined) return undefined;
    const seen = new Set<T>();
    for (const item of items) {
      if (seen.has(item)) this.place.at(key).problem(`has ${shown(item)} twice.`);
      seen.add(item);
    }
    return [...seen];
  }

  /** The items of a list with their places; none when it is no list. */
  items(
    key: string,
    allowed: string,
    most: number = definitionLimits.listItems,
  ): readonly (readonly [unknown, Place])[] | undefined {
    if (!this.has(key)) return undefined;
    const value = this.value(key);
    const place = this.place.at(key);
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

  #unknown(key: string, { keys, hints }: Shape): void {
    const { place } = this;
    const known = hints !== undefined && Object.hasOwn(hints, key) ? hints[key] : undefined;
    const meant = known === undefined ? place.problems.closest(key, keys) : undefined;
    if (meant !== undefined) this.#meant.add(meant);
    const hint = known ?? (meant === undefined ? undefined : `Did you mean "${meant}"?`);
    const problem = `${place.words} has an unknown key ${shown(key)}.${hint === undefined ? "" : ` ${hint}`}`;
    place.problems.add({ path: [...place.path, key], on: "key", sentence: problem });
  }
}

export function readAt<T>(value: unknown, place: Place, kind: Kind<T>): T | undefined {
  const read = kind.read(value);
  if (read === undefined) place.problem(`is ${shown(value)}; it must be ${kind.allowed}.`);
  return read;
}
