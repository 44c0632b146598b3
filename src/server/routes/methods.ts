import type { App } from "./route.ts";

/** The methods of an address; empty if it is unknown. */
export function methodsOf(app: App, path: string): readonly string[] {
  const found = app.routes.filter(({ method, path: pattern }) => method !== "ALL" && isFor(pattern, path));
  const methods = new Set(found.map(({ method }) => method));
  // GET includes HEAD.
  if (methods.has("GET")) methods.add("HEAD");
  return [...methods].sort();
}

/** The dashboard's pattern matches every address, so it is ignored here. */
function isFor(pattern: string, path: string): boolean {
  if (pattern.includes("*")) return false;
  const [expected, given] = [pattern.split("/"), path.split("/")];
  const fits = (part: string, index: number): boolean =>
    part.startsWith(":") ? given[index] !== "" : part === given[index];
  return expected.length === given.length && expected.every(fits);
}
