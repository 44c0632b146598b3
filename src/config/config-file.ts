import { readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeeperThan, jsonLimits, parseJson } from "../domain/json.ts";

const extensions = ["ts", "js", "mjs", "yaml", "yml", "json"];
const largestBytes = 1024 * 1024;

export interface ConfigFile {
  readonly path: string;
  readonly content: unknown;
  /** The line on which a key stands, for formats that are read as text. */
  readonly lineOf: (keyPath: readonly string[]) => Promise<number | undefined>;
}

/** Reads the one configuration file in `cwd`. What is wrong with it is thrown as an Error whose message is for users. */
export async function readConfigFile(cwd: string): Promise<ConfigFile | undefined> {
  const found = await findConfigFiles(cwd);
  const [path, other] = found;
  if (path === undefined) return undefined;
  if (other !== undefined) {
    throw new Error(`${found.join(" and ")} are here together, and only one can count. Keep one of them.`);
  }
  const status = await stat(path);
  if (!status.isFile()) throw new Error(`${path} is not a regular file.`);
  if (status.size > largestBytes) {
    throw new Error(`${path} has ${status.size} bytes; a configuration file may have ${largestBytes}.`);
  }
  return extname(path).endsWith("s") ? await importModule(path) : await readText(path);
}

async function findConfigFiles(cwd: string): Promise<string[]> {
  const paths = extensions.map((extension) => join(cwd, `maestro.config.${extension}`));
  const present = await Promise.all(paths.map(exists));
  return paths.filter((_, index) => present[index]);
}

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

async function readText(path: string): Promise<ConfigFile> {
  try {
    const text = await readFile(path, "utf8");
    const content =
      extname(path) === ".json" ? parseJson(text, { what: "it", refuseProto: true }) : await parseYaml(text);
    return { path, content, lineOf: async (keyPath) => await lineInYaml(text, keyPath) };
  } catch (error) {
    throw new Error(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

async function parseYaml(text: string): Promise<unknown> {
  const { parseDocument } = await import("yaml");
  // The parser recurses into brackets, and ends with an error of the machine.
  if (isDeeperThan(text, jsonLimits.maxDepth))
    throw new Error(`it is nested more than ${jsonLimits.maxDepth} levels deep`);
  const document = parseDocument(text, { logLevel: "error" });
  const [problem] = [...document.errors, ...document.warnings];
  // The first line says what and where; the rest draws the place.
  if (problem !== undefined) throw new Error(problem.message.split(":\n")[0], { cause: problem });
  return document.toJS();
}

/** JSON is YAML too, so that one look-up serves both. */
async function lineInYaml(text: string, keyPath: readonly string[]): Promise<number | undefined> {
  const { LineCounter, isMap, isScalar, parseDocument } = await import("yaml");
  const lineCounter = new LineCounter();
  let node: unknown = parseDocument(text, { lineCounter }).contents;
  let offset: number | undefined;
  for (const name of keyPath) {
    if (!isMap(node)) return undefined;
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === name);
    if (pair === undefined || !isScalar(pair.key)) return undefined;
    offset = pair.key.range?.[0];
    node = pair.value;
  }
  return offset === undefined ? undefined : lineCounter.linePos(offset).line;
}

async function importModule(path: string): Promise<ConfigFile> {
  const module = await import(pathToFileURL(path).href).then(asModule, (error: unknown) => {
    throw new Error(`${path} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  });
  if (module.default === undefined) {
    throw new Error(`${path} has no default export. Write: export default { ... }`);
  }
  return { path, content: module.default, lineOf: async () => await Promise.resolve(undefined) };
}

function asModule(module: unknown): { readonly default?: unknown } {
  return module as { default?: unknown };
}
