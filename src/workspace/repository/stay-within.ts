import { readFile, realpath } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { InputInvalid } from "../../domain/errors.ts";
import type { Git } from "./git.ts";

/**
 * Refuses a repository unless all its files are in these folders. Its own folder may be a link, its `.git` a file
 * that names another folder, and its objects may be borrowed from another repository.
 */
export async function stayWithin(git: Git, folder: string, allowed: readonly string[]): Promise<void> {
  const places = await git.text(["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"]);
  const objects = await git.text(["rev-parse", "--path-format=absolute", "--git-path", "objects"]);
  const borrowed = await alternatesOf(objects);
  for (const place of [folder, ...places.split("\n"), objects, ...borrowed])
    if (!(await isWithin(place, allowed)))
      throw new InputInvalid("A part of this repository is outside the allowed folders.", {
        advice: "Use a repository whose .git folder and objects are its own.",
      });
}

async function isWithin(path: string, allowed: readonly string[]): Promise<boolean> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return false;
  return allowed.some((root) => real === root || real.startsWith(root.endsWith(sep) ? root : root + sep));
}

/** Object folders that the repository reads besides its own. */
async function alternatesOf(objects: string): Promise<readonly string[]> {
  const text = await readFile(resolve(objects, "info/alternates"), "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => resolve(objects, line));
}
