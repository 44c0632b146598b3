import { isUtf8 } from "node:buffer";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Generated files: their changes are full rewrites that no model would make. */
const generated =
  /(?:^|\/)(?:package\.json|dist\/.*|browser-entry\.js|mocha(?:-es2018)?\.js)$|\.(?:min\.\w+|map|wasm)$|(?:^|\/)llhttp\//;
const maxBytes = 1024 * 1024;

/** Path and content of the texts in one published version. */
export type Files = ReadonlyMap<string, string>;

/** Downloads missing versions, with one call of npm for all. */
export async function fetchVersions(cache: string, name: string, versions: readonly string[]): Promise<void> {
  const missing = versions.filter((version) => !existsSync(folderOf(cache, name, version)));
  if (missing.length === 0) return;
  const packed = join(cache, `${name}-packed`);
  mkdirSync(packed, { recursive: true });
  const specs = missing.map((version) => `${name}@${version}`);
  await run("npm", ["pack", ...specs, "--pack-destination", packed, "--silent", "--ignore-scripts"]);
  for (const version of missing) {
    const unpacked = join(packed, version);
    mkdirSync(unpacked);
    await run("tar", ["-xzf", join(packed, `${name}-${version}.tgz`), "-C", unpacked]);
    // Renamed when complete: an interrupted run leaves no half of a version.
    renameSync(unpacked, folderOf(cache, name, version));
  }
  rmSync(packed, { recursive: true });
}

export function readVersion(cache: string, name: string, version: string): Files {
  const root = join(folderOf(cache, name, version), "package");
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const files = new Map<string, string>();
  for (const entry of entries.filter((found) => found.isFile())) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(root, file).split(sep).join("/");
    const content = generated.test(path) ? undefined : readText(file);
    if (content !== undefined) files.set(path, content);
  }
  return files;
}

const folderOf = (cache: string, name: string, version: string): string => join(cache, `${name}@${version}`);

function readText(file: string): string | undefined {
  const bytes = readFileSync(file);
  return bytes.length <= maxBytes && isUtf8(bytes) && !bytes.includes(0) ? bytes.toString() : undefined;
}
