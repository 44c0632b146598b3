import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Creates level by level. `mkdir` with `recursive` retries for ever where a file system always answers ENOENT. */
export async function makeFolders(path: string): Promise<void> {
  try {
    await makeFolder(path);
  } catch (error) {
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || above === path) throw error;
    await makeFolders(above);
    await makeFolder(path);
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST" && (await stat(path)).isDirectory()) return;
    throw error;
  }
}
