import { pathStep } from "./json-problem.ts";

export interface Bent {
  readonly path: string;
  /** "a Map". */
  readonly kind: string;
}

const bentTags: Readonly<Record<string, string>> = {
  "[object Map]": "a Map",
  "[object Set]": "a Set",
  "[object Promise]": "a Promise",
  "[object Error]": "an Error",
  "[object RegExp]": "a RegExp",
  "[object ArrayBuffer]": "an ArrayBuffer",
};

/** What JSON would write as an object that has nothing of it, without a word. By its tag: also what another realm made. */
export function bentKind(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === Array.prototype || prototype === null) return undefined;
  return bentTags[Object.prototype.toString.call(value)];
}

/** Looks through a value that JSON.stringify could write, so that it has an end. What `toJSON` gives is its own matter. */
export function findBent(value: unknown, path: string): Bent | undefined {
  if (typeof value !== "object" || value === null || saysItself(value)) return undefined;
  const kind = bentKind(value);
  if (kind !== undefined) return { path, kind };
  // The path is made on the way back: there is one only where something was found.
  for (const key of Object.keys(value)) {
    const found = findBent((value as Readonly<Record<string, unknown>>)[key], "");
    if (found !== undefined) return { path: path + pathStep(value, key) + found.path, kind: found.kind };
  }
  return undefined;
}

const saysItself = (value: object): boolean => "toJSON" in value && typeof value.toJSON === "function";
