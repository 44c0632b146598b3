export interface JsonProblem {
  readonly path: string;
  readonly problem: "contains itself" | "is a BigInt" | "lies too deep";
}

/** Beyond this many values the search gives up: a value that shares its parts can have endless paths. */
const maxVisits = 1_000_000;

/** Finds what JSON.stringify refused, for the message of the error. */
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
    // A getter or toJSON threw; the error that JSON.stringify gave says which.
    return undefined;
  }
}

function written(value: unknown, key: string): unknown {
  const toJson = (value as { readonly toJSON?: unknown } | null | undefined)?.toJSON;
  return typeof toJson === "function" ? toJson.call(value, key) : value;
}

export function pathStep(parent: object, key: string): string {
  if (Array.isArray(parent)) return `[${key}]`;
  return /^[\w$]{1,64}$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 64))}]`;
}
