import type { App } from "./route.ts";

/** The methods that an address answers to, whatever it was asked with; none: nobody knows the address. */
export function methodsOf(app: App, path: string): readonly string[] {
  const found = app.routes.filter(({ method, path: pattern }) => method !== "ALL" && isFor(pattern, path));
  const methods = new Set(found.map(({ method }) => method));
  // Whoever answers GET answers HEAD.
  if (methods.has("GET")) methods.add("HEAD");
  return [...methods].sort();
}

/** The dashboard's pattern is for everything, and says nothing about what is there. */
function isFor(pattern: string, path: string): boolean {
  if (pattern.includes("*")) return false;
  const [expected, given] = [pattern.split("/"), path.split("/")];
  const fits = (part: string, index: number): boolean =>
    part.startsWith(":") ? given[index] !== "" : part === given[index];
  return expected.length === given.length && expected.every(fits);
}
