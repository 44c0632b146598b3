import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

export const root = join(import.meta.dirname, "../..");

/** Path from the root of the repository, with its text. */
export type Sources = ReadonlyMap<string, string>;

export function readSources(folder: "src" | "dashboard/src" = "src"): Sources {
  const paths = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path))
    .sort()
    .map((path) => `${folder}/${path}`);
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

const notOurs = new Set(["node_modules", "dist", "coverage", ".git", ".test-results"]);

/** Files that git tracks or would track; in a copy without git, everything that is not installed or built. */
export function trackedFiles(): string[] {
  if (!existsSync(join(root, ".git"))) return walk(root).map((path) => relative(root, path));
  // A checkout that belongs to another user, as in many containers, is fine for reading.
  const git = ["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const listed = execFileSync("git", git, { cwd: root, encoding: "utf8" }).split("\0");
  return listed.filter(
    (path) => path !== "" && existsSync(join(root, path)) && statSync(join(root, path)).isFile(),
  );
}

function walk(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (notOurs.has(entry.name)) return [];
    const path = join(directory, entry.name);
    return entry.isDirectory() ? walk(path) : entry.isFile() ? [path] : [];
  });
}

/** The text without comments; every line keeps its number. Strings are skipped, so that "https://" stays. */
export function withoutComments(text: string): string {
  const token = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  return text.replaceAll(token, (found) =>
    found.startsWith("/*") || found.startsWith("//") ? found.replaceAll(/[^\n]/g, " ") : found,
  );
}
