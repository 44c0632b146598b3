import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

/** The absolute folders of a PATH. A relative one would be a different folder for each command. */
export const searchPath = (path = process.env["PATH"] ?? ""): string[] =>
  path.split(delimiter).filter((folder) => isAbsolute(folder));

/** The first program with that name, as execvp(3) would find it. */
export async function findProgram(name: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const path = join(folder, name);
    if (await isProgram(path)) return path;
  }
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
