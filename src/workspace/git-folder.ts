import { realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { InputInvalid } from "../domain/errors.ts";
import { showPath } from "../domain/tree-path.ts";

/** Refuses to write into git's own folder, where a file may be a hook or a setting that names a program. */
export async function refuseGitFolder(directory: string): Promise<void> {
  const folder = await gitFolderOf(await existing(resolve(directory)));
  if (folder === undefined) return;
  throw new InputInvalid(
    `${showPath(directory)} is inside ${showPath(folder)}, which is a folder of git itself.`,
    {
      advice: "Name a folder of files, such as a checkout. For a bare repository, make a branch.",
    },
  );
}

/** The nearest folder that is there: links on the way to it count as what they lead to. */
async function existing(directory: string): Promise<string> {
  return realpath(directory).catch(() =>
    directory === dirname(directory) ? directory : existing(dirname(directory)),
  );
}

/** Git knows its folders by these three, whatever their names. */
const signs = ["HEAD", "objects", "refs"];

async function gitFolderOf(folder: string): Promise<string | undefined> {
  const found = await Promise.all(signs.map((name) => stat(join(folder, name)).catch(() => undefined)));
  if (found.every((status) => status !== undefined)) return folder;
  return folder === dirname(folder) ? undefined : gitFolderOf(dirname(folder));
}
