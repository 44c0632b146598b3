import { InputInvalid } from "../../domain/errors.ts";
import type { InstalledDependency } from "../../domain/healing-action.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../../domain/json.ts";
import { showPath } from "../../domain/tree-path.ts";
import type { Workspace } from "../../workspace/workspace.ts";

type Files = Pick<Workspace, "tree" | "readText">;

const packageName = /^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*$/i;
const maxNameLength = 214;
const maxJsonBytes = 1024 * 1024;

/** A name that can only be its own folder in `node_modules`. */
export const isPackageName = (name: Json | undefined): name is string =>
  typeof name === "string" && name.length <= maxNameLength && packageName.test(name);

const isObject = (value: Json | undefined): value is JsonObject => isJsonObject(value ?? null);

export const folderOf = (name: string): string => `node_modules/${name}/`;

/** An undeclared package is not installed: the delivered project would not run without it. */
export async function refuseUndeclared(name: string, files: Files): Promise<void> {
  const project = await readObject("package.json", files);
  const declares = (list: Json | undefined): boolean =>
    isObject(list) && Object.hasOwn(list, name) && typeof list[name] === "string";
  if (declares(project["dependencies"]) || declares(project["devDependencies"])) return;
  throw new InputInvalid(`package.json does not declare ${name}.`, {
    advice: "Declare it in its dependencies or devDependencies first.",
  });
}

/** Checks a healer's claim of an installation against the folder and the changed files. */
export async function refuseWrongInstall(
  { name, version }: InstalledDependency,
  files: Files,
  changed: readonly string[],
): Promise<void> {
  const other = changed.find((path) => !path.startsWith(folderOf(name)));
  if (other !== undefined) throw new InputInvalid(`${showPath(other)} is not a file of the package ${name}.`);
  await refuseUndeclared(name, files);
  const there = await installedVersion(name, files);
  if (there !== version)
    throw new InputInvalid(
      `The package ${name} that was installed has the version ${there}, and not ${version}.`,
    );
}

export async function installedVersion(name: string, files: Files): Promise<string> {
  const path = `${folderOf(name)}package.json`;
  const { version } = await readObject(path, files);
  if (typeof version === "string" && version !== "") return version.slice(0, 100);
  throw new InputInvalid(`${path} has no version.`);
}

async function readObject(path: string, files: Files): Promise<JsonObject> {
  if (!files.tree.has(path)) throw new InputInvalid(`There is no ${path}.`);
  const value = parseJson(await files.readText(path), { what: path, maxBytes: maxJsonBytes });
  if (isJsonObject(value)) return value;
  throw new InputInvalid(`${path} is not an object.`);
}
