type Emptied = "Map" | "Set" | "Promise";

export interface JsonProblem {
  readonly path: string;
  readonly problem: "contains itself" | "is a BigInt" | "lies too deep" | `is a ${Emptied}`;
}

/** Beyond this many values the search gives up: a value that shares its parts can have endless paths. */
const maxVisits = 1_000_000;

/** Finds what JSON.stringify refused, or silently made an empty object of. */
export function findJsonProblem(root: unknown, what: string, maxDepth: number): JsonProblem | undefined {
  const ancestors = new Set<object>();
  let visits = 0;

  function visit(given: unknown, path: () => string): JsonProblem | undefined {
    visits += 1;
    const value = written(given);
    if (typeof value === "bigint") return { path: path(), problem: "is a BigInt" };
    if (typeof value !== "object" || value === null || visits > maxVisits) return undefined;
    const emptied = emptiedBy(value);
    if (emptied !== undefined) return { path: path(), problem: `is a ${emptied}` };
    if (ancestors.has(value)) return { path: path(), problem: "contains itself" };
    if (ancestors.size >= maxDepth) return { path: path(), problem: "lies too deep" };
    ancestors.add(value);
    for (const [key, member] of Object.entries(value)) {
      const problem = visit(member, () => path() + step(value, key));
      if (problem) return problem;
    }
    ancestors.delete(value);
    return undefined;
  }

  try {
    return visit(root, () => what);
  } catch {
    // A getter or toJSON threw; the error that JSON.stringify gave says which.
    return undefined;
  }
}

function emptiedBy(value: object): Emptied | undefined {
  if (value instanceof Map) return "Map";
  if (value instanceof Set) return "Set";
  return value instanceof Promise ? "Promise" : undefined;
}

function written(value: unknown): unknown {
  const toJson = (value as { readonly toJSON?: unknown } | null | undefined)?.toJSON;
  return typeof toJson === "function" ? toJson.call(value) : value;
}

function step(parent: object, key: string): string {
  if (Array.isArray(parent)) return `[${key}]`;
  return /^[\w$]{1,64}$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 64))}]`;
}
