export interface JsonProblem {
  readonly path: string;
  readonly problem: "contains itself" | "is a BigInt" | "lies too deep";
}

/** After this many values the search stops, because a value that shares its parts can have endless paths. */
const maxVisits = 1_000_000;

/** Finds the value that JSON.stringify refused, for the error's message. */
export function findJsonProblem(root: unknown, what: string, maxDepth: number): JsonProblem | undefined {
  const ancestors = new Set<object>();
  let visits = 0;

  function visit(given: unknown, key: string, path: () => string): JsonProblem | undefined {
    visits += 1;
    const value = written(given, key);
    if (typeof value === "bigint") return { path: path(), problem: "is a BigInt" };
    if (typeof value !== "object" || value === null || visits > maxVisits) return undefined;
    if (ancestors.has(value)) return { path: path(), problem: "contains itself" };
    if (ancestors.size >= maxDepth) return { path: path(), problem: "lies too deep" };
    ancestors.add(value);
    for (const [key, member] of Object.entries(value)) {
      const problem = visit(member, key, () => path() + pathStep(value, key));
      if (problem) return problem;
    }
    ancestors.delete(value);
    return undefined;
  }

  try {
    return visit(root, "", () => what);
  } catch {
    // A getter or toJSON threw. The error of JSON.stringify says which.
    return undefined;
  }
}

export interface Unserializable {
  readonly path: string;
  /** "a Map". */
  readonly kind: string;
}

const unserializableTags: Readonly<Record<string, string>> = {
  "[object Map]": "a Map",
  "[object Set]": "a Set",
  "[object Promise]": "a Promise",
  "[object Error]": "an Error",
  "[object RegExp]": "a RegExp",
  "[object ArrayBuffer]": "an ArrayBuffer",
};

/**
 * The kind of a value that JSON writes as an empty object. Uses its tag, which also works for values of another
 * realm.
 */
export function unserializableKind(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === Array.prototype || prototype === null) return undefined;
  return unserializableTags[Object.prototype.toString.call(value)];
}

/**
 * Searches a value that JSON.stringify has written, so the search ends. Includes results of `toJSON`, because those
 * are recorded. The path starts below the value.
 */
export function findUnserializable(given: unknown, key: string): Unserializable | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const value = written(given, key);
  if (typeof value !== "object" || value === null) return undefined;
  const kind = unserializableKind(value);
  if (kind !== undefined) return { path: "", kind };
  // The path is built on the way back, so only if something was found.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const found = findUnserializable(value[index], String(index));
      if (found !== undefined) return { path: `[${index}]${found.path}`, kind: found.kind };
    }
    return undefined;
  }
  for (const name of Object.keys(value)) {
    const found = findUnserializable((value as Readonly<Record<string, unknown>>)[name], name);
    if (found !== undefined) return { path: pathStep(value, name) + found.path, kind: found.kind };
  }
  return undefined;
}

/** The value that JSON.stringify writes for this one. */
function written(value: unknown, key: string): unknown {
  const toJson = (value as { readonly toJSON?: unknown } | null | undefined)?.toJSON;
  return typeof toJson === "function" ? toJson.call(value, key) : value;
}

function pathStep(parent: object, key: string): string {
  if (Array.isArray(parent)) return `[${key}]`;
  return /^[\w$]{1,64}$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 64))}]`;
}
