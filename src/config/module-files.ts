import { stat } from "node:fs/promises";
import { createRequire, registerHooks } from "node:module";
import { dirname, isAbsolute, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { canonicalJson, sha256 } from "../domain/canonical.ts";

/**
 * The files of a module: its own and those imported by path. Packages are excluded, because a person installed
 * them.
 */
export interface ModuleFiles {
  /** Hash of all files. For a single file, the hash of its bytes. */
  readonly sha256: string;
  /** By real path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const mostFiles = 1_000;
/** Also matches in comments and texts, because an extra file does no harm. */
const imports =
  /(?:\bfrom|\bimport|\bimport\s{0,9}\(|\brequire\s{0,9}\()\s{0,99}(["'`])((?:\.{1,2}\/|\/|file:)[^"'`\n]{1,999})\1/g;

/** `read` returns the bytes of a file, or throws. Runs nothing. */
export async function readModuleFiles(
  entry: string,
  read: (path: string) => Promise<Uint8Array>,
): Promise<ModuleFiles> {
  const files = new Map<string, Uint8Array>();
  const waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (files.has(path)) continue;
    if (files.size === mostFiles) throw new Error(`${entry} imports more than ${mostFiles} files.`);
    const bytes = await read(path);
    files.set(path, bytes);
    for (const [, , specifier = ""] of Buffer.from(bytes).toString().matchAll(imports)) {
      const found = resolveIn(path, specifier);
      // Node reports missing files itself.
      if (found !== undefined && (await stat(found).catch(() => undefined))?.isFile()) waiting.push(found);
    }
  }
  const own = files.get(entry) ?? new Uint8Array();
  const folder = dirname(entry);
  const hashes = [...files].map(([path, bytes]) => [relative(folder, path), sha256(bytes)] as const);
  const all = hashes.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return { sha256: files.size === 1 ? sha256(own) : sha256(canonicalJson(all)), files };
}

/** Resolves like `require`, which accepts paths without an extension. The result is a real path. */
function resolveIn(path: string, specifier: string): string | undefined {
  try {
    const wanted = specifier.startsWith("file:") ? fileURLToPath(specifier) : specifier;
    return createRequire(path).resolve(wanted);
  } catch {
    return undefined;
  }
}

/**
 * Imports a module from the bytes that were read, so that a file changed since then cannot run. Refuses a file that
 * was not read, which only a computed path can name.
 */
export async function importFiles(
  entry: string,
  { files }: Pick<ModuleFiles, "files">,
): Promise<{ readonly default?: unknown }> {
  const own = new Set([pathToFileURL(entry).href]);
  const folder = dirname(entry);
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context);
      if (own.has(context.parentURL ?? "") && isOwn(specifier, resolved.url, folder)) own.add(resolved.url);
      return resolved;
    },
    load: (url, context, next) => {
      if (!own.has(url)) return next(url, context);
      const path = fileURLToPath(url);
      const source = files.get(path);
      if (source === undefined)
        throw new Error(`it imports ${path}, which trust does not cover: write a relative path as it is`);
      return { ...next(url, context), source };
    },
  });
  try {
    return (await import(pathToFileURL(entry).href)) as { readonly default?: unknown };
  } finally {
    hooks.deregister();
  }
}

function isOwn(specifier: string, url: string, folder: string): boolean {
  if (!url.startsWith("file:")) return false;
  if (/^(?:\.{0,2}\/|file:|#)/.test(specifier)) return true;
  // The folder's own package, imported by its name.
  const way = relative(folder, fileURLToPath(url));
  return !way.startsWith("..") && !isAbsolute(way) && !join("/", way).includes("/node_modules/");
}
