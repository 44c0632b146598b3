import { isAbsolute, relative, resolve } from "node:path";

/**
 * Folders where systems keep programs. Everything else, including homes, mounts and state, is absent from the
 * sandbox.
 */
export const systemFolders = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/opt",
  "/nix",
  "/gnu",
  "/snap",
];

/** Whether every confined command sees this absolute path anyway. */
export const isInSystem = (path: string): boolean => isInside(resolve(path), systemFolders);

export function isInside(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => {
    const way = relative(folder, path);
    return way === "" || (way !== ".." && !way.startsWith("../") && !isAbsolute(way));
  });
}
