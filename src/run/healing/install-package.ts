import { realpath } from "node:fs/promises";
import { InputInvalid } from "../../domain/errors.ts";
import type { InstalledDependency } from "../../domain/healing-action.ts";
import { showPath, treeLimits } from "../../domain/tree-path.ts";
import { type Entry, OpenFolder } from "../../workspace/open-folder.ts";
import { readFile } from "../../workspace/read-file.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { folderOf, installedVersion, isPackageName, refuseUndeclared } from "./declared-package.ts";

/** Every file is named by the healer's step. */
const installLimits = { maxEntries: 2_000, maxBytes: 64 * 1024 * 1024 };

/**
 * Copies a package into the workspace and replaces an existing one. The folder itself may be a link, as package managers
 * make them. Inside it no link is followed, and a file that cannot be copied is an error.
 */
export async function installPackage(
  workspace: Workspace,
  name: string,
  fromFolder: string,
): Promise<InstalledDependency> {
  if (!isPackageName(name)) throw new InputInvalid(`${showPath(String(name))} is not a package name.`);
  await refuseUndeclared(name, workspace);
  const folder = folderOf(name);
  await using root = await OpenFolder.open(await realpath(fromFolder));
  for (const path of workspace.tree.keys()) if (path.startsWith(folder)) await workspace.remove(path);
  await new Copy(workspace).folder(root, folder);
  return { kind: "installed-dependency", name, version: await installedVersion(name, workspace), paths: [] };
}

class Copy {
  readonly #workspace: Workspace;
  #entriesLeft = installLimits.maxEntries;
  #bytesLeft = installLimits.maxBytes;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  async folder(folder: OpenFolder, above: string): Promise<void> {
    for (const entry of await folder.list(this.#entriesLeft)) await this.#entry(folder, above, entry);
  }

  async #entry(folder: OpenFolder, above: string, { name, kind }: Entry): Promise<void> {
    const path = above + name.toString();
    // Links to the programs of packages further in.
    if (path.endsWith("/node_modules/.bin")) return;
    if (this.#entriesLeft === 0)
      throw refused(path, `there are more than ${installLimits.maxEntries} files and folders`);
    this.#entriesLeft -= 1;
    if (kind === "folder") {
      await using inner = await folder.folder(name);
      await this.folder(inner, `${path}/`);
      return;
    }
    const maxBytes = Math.min(treeLimits.maxFileBytes, this.#bytesLeft);
    // Package managers link files from their store, so hard links are accepted.
    const reading = await readFile(folder, name, maxBytes, { mayBeHardLink: true });
    if (reading.kind === "refused") throw refused(path, reading.reason);
    this.#bytesLeft -= reading.content.length;
    await this.#workspace.write(path, reading.content, { executable: reading.mode === "executable" });
  }
}

const refused = (path: string, reason: string): InputInvalid =>
  new InputInvalid(`${showPath(path)} was not installed: ${reason}.`);
