import { isJsonObject, parseJson } from "../../domain/json.ts";
import type { Tree } from "../../domain/tree.ts";
import type { BlobStore } from "../../workspace/blobs.ts";

/** Scripts of the top package that npm runs when it installs dependencies. */
const ownScripts = [
  "preinstall",
  "install",
  "postinstall",
  "prepublish",
  "preprepare",
  "prepare",
  "postprepare",
  "dependencies",
];
const lockfiles = ["package-lock.json", "npm-shrinkwrap.json"];
/** Packages of the repository itself, whose files npm reads. */
const local = /"link"\s*:\s*true|"(?:file|link|workspace):/;
/** A setting whose value is a word or an address: any other could name a file. */
const plainSetting = /^\s*(?:[#;].*|[@\w:.-]+\s*=\s*(?:https?:\/\/\S*|[\w.@^~-]*))?\s*$/;

/**
 * Whether `npm ci` reads and runs nothing of the repository but its manifest and its lockfile. Most packages are like that,
 * and their sessions can share what they install, whatever else changes.
 */
export async function needsInputsOnly(
  run: readonly string[],
  inputs: Tree,
  base: Pick<Tree, "has">,
  blobs: Pick<BlobStore, "get">,
  /** Where it runs; empty: in the top folder. */
  folder = "",
): Promise<boolean> {
  const at = (name: string) => (folder === "" ? name : `${folder}/${name}`);
  const lockfile = lockfiles.find((name) => inputs.has(at(name)));
  // npm compiles what has a binding.gyp, without any script.
  if (run.join(" ") !== "npm ci" || lockfile === undefined || base.has(at("binding.gyp"))) return false;
  const text = async (name: string): Promise<string> => {
    const file = inputs.get(at(name));
    return file === undefined ? "" : (await blobs.get(file.sha256)).toString();
  };
  const [manifest, lock, settings] = await Promise.all(["package.json", lockfile, ".npmrc"].map(text));
  if (local.test(`${manifest}${lock}`)) return false;
  return (
    !hasOwnScripts(manifest ?? "") && (settings ?? "").split("\n").every((line) => plainSetting.test(line))
  );
}

/** Also true of what cannot be read. */
function hasOwnScripts(manifest: string): boolean {
  try {
    const read = parseJson(manifest);
    if (!isJsonObject(read)) return true;
    const { scripts = {} } = read;
    return !isJsonObject(scripts) || ownScripts.some((name) => Object.hasOwn(scripts, name));
  } catch {
    return true;
  }
}
