import { readFile, realpath, stat } from "node:fs/promises";
import { extname, join, relative } from "node:path";
import { sha256 } from "../domain/canonical.ts";
import type { SourceText } from "../team/definition/source-text.ts";

const codeExtensions = ["ts", "js", "mjs"];
const dataExtensions = ["yaml", "yml", "json"];
const largestBytes = 1024 * 1024;

/** A configuration file before it is parsed and before any of its code runs. */
export interface FoundConfig {
  readonly path: string;
  readonly isCode: boolean;
  readonly bytes: Uint8Array;
  /** Hash of the bytes. For code, it includes all files imported by path. */
  readonly sha256: string;
  /** For code: its files by real path, in the order of discovery. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** The files that its code imports, in the form people use. */
export const importsOf = ({ files }: FoundConfig, folder: string): readonly string[] =>
  [...files.keys()].slice(1).map((path) => relative(folder, path));

export interface ConfigFile {
  readonly path: string;
  readonly content: unknown;
  /** The line of a key, for formats that are read as text. */
  readonly lineOf: (keyPath: readonly string[]) => Promise<number | undefined>;
}

/** The one configuration file of a folder. A problem is thrown as an Error whose message is for users. */
export const findFolderConfig = (folder: string): Promise<FoundConfig | undefined> =>
  findConfig(folder, "maestro.config", [...codeExtensions, ...dataExtensions]);

/** The user's own file, which contains only data. */
export const findUserConfig = (folder: string): Promise<FoundConfig | undefined> =>
  findConfig(folder, "config", dataExtensions);

async function findConfig(
  folder: string,
  name: string,
  extensions: readonly string[],
): Promise<FoundConfig | undefined> {
  const paths = extensions.map((extension) => join(folder, `${name}.${extension}`));
  const present = await Promise.all(paths.map(exists));
  const found = paths.filter((_, index) => present[index]);
  const [path, other] = found;
  if (path === undefined) return undefined;
  if (other !== undefined) {
    throw new Error(`${found.join(" and ")} are here together, and only one can count. Keep one of them.`);
  }
  const isCode = codeExtensions.includes(extname(path).slice(1));
  const bytes = await readBytes(path);
  if (!isCode) return { path, isCode, bytes, sha256: sha256(bytes), files: new Map() };
  const { readModuleFiles } = await import("./module-files.ts");
  return { path, isCode, bytes, ...(await readModuleFiles(await realpath(path), readBytes)) };
}

async function readBytes(path: string): Promise<Uint8Array> {
  const status = await stat(path);
  if (!status.isFile()) throw new Error(`${path} is not a regular file.`);
  if (status.size > largestBytes) {
    throw new Error(`${path} has ${status.size} bytes; a configuration file may have ${largestBytes}.`);
  }
  return await readFile(path).catch((cause: unknown) => {
    throw new Error(`${path} cannot be read: ${(cause as Error).message}.`, { cause });
  });
}

/** Runs the code of a configuration only if a person trusted these bytes. */
export const readConfig = (found: FoundConfig): Promise<ConfigFile> =>
  found.isCode ? importModule(found) : readText(found);

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw new Error(`${path} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
}

/** Uses the readers of team files, which accept files from strangers. */
async function readText({ path, bytes }: FoundConfig): Promise<ConfigFile> {
  const source = await sourceOf(path, bytes);
  if (source.kind === "broken") {
    const [problem] = source.problems;
    const place = problem?.line === undefined ? "" : `, line ${problem.line}, column ${problem.column}`;
    throw new Error(`${path} cannot be read as ${source.language}${place}: ${problem?.sentence}`);
  }
  const { value, locate } = source;
  return {
    path,
    content: value,
    lineOf: async (keyPath) => await Promise.resolve(locate(keyPath, "key").line),
  };
}

async function sourceOf(path: string, bytes: Uint8Array): Promise<SourceText> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Error(`${path} is not UTF-8.`, { cause });
  }
  return extname(path) === ".json"
    ? (await import("../team/definition/json-text.ts")).readJson(text)
    : (await import("../team/definition/yaml-text.ts")).readYaml(text);
}

async function importModule({ path, files }: FoundConfig): Promise<ConfigFile> {
  const { importFiles } = await import("./module-files.ts");
  const module = await importFiles(await realpath(path), { files }).catch((error: unknown) => {
    throw new Error(`${path} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  });
  if (module.default === undefined) {
    throw new Error(`${path} has no default export. Write: export default { ... }`);
  }
  return { path, content: module.default, lineOf: async () => await Promise.resolve(undefined) };
}
