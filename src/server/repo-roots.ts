import { realpath, stat } from "node:fs/promises";
import { resolve, sep } from "node:path";
import type { z } from "@hono/zod-openapi";
import { InputInvalid } from "../domain/errors.ts";
import { showPath } from "../domain/tree-path.ts";
import type { SourceOptions } from "../index.ts";
import { HttpProblem } from "./problem.ts";
import type { startRequest } from "./schemas/actions.ts";

type RequestedSource = NonNullable<z.infer<typeof startRequest>["source"]>;

/** The real paths of the folders that `--repo-root` names. */
export async function readRepoRoots(folders: readonly string[]): Promise<readonly string[]> {
  const roots = await Promise.all(
    folders.map(async (folder) => {
      const found = await realpath(resolve(folder)).catch(() => undefined);
      if (found !== undefined && (await stat(found)).isDirectory()) return found;
      throw new InputInvalid(`--repo-root names ${showPath(folder)}, which is not a folder.`, {
        advice: "Name the folder that holds your repositories.",
      });
    }),
  );
  return [...new Set(roots)];
}

/** An address with a scheme, or a host and a path as in `git@example.org:x.git`. */
const address = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/|^[^/\\]+@[^/\\]+:/;

/**
 * The source of a request, if its repository is at or below an allowed folder. For a path outside, the answer is
 * the same whether or not it exists, so a caller learns nothing about the rest of the disk.
 */
export async function allowedSource(
  { git, ref, include, exclude }: RequestedSource,
  roots: readonly string[],
): Promise<SourceOptions> {
  if (roots.length === 0)
    throw new HttpProblem(
      "REPOSITORY_NOT_ALLOWED",
      "This server starts no sessions with repositories.",
      "Start it with --repo-root and the folder that holds them, or send the files to POST /v1/uploads.",
    );
  if (address.test(git))
    throw new HttpProblem(
      "REPOSITORY_NOT_ALLOWED",
      "This server fetches no repositories from addresses.",
      `Clone it on the server, below ${listed(roots)}, and name that folder.`,
    );
  const folder = await findBelow(git, roots);
  if (folder === undefined)
    throw new HttpProblem(
      "REPOSITORY_NOT_ALLOWED",
      `There is no repository ${showPath(git)} that this server may use.`,
      `Name one at or below ${listed(roots)}.`,
    );
  return {
    git: folder,
    within: roots,
    ...(ref !== undefined && { ref }),
    ...(include !== undefined && { include }),
    ...(exclude !== undefined && { exclude }),
  };
}

/** A relative path is searched below each folder. */
async function findBelow(path: string, roots: readonly string[]): Promise<string | undefined> {
  if (path.includes("\0")) return undefined;
  for (const root of roots) {
    const found = await realpath(resolve(root, path)).catch(() => undefined);
    if (found !== undefined && roots.some((allowed) => isAtOrBelow(found, allowed))) return found;
  }
  return undefined;
}

const isAtOrBelow = (path: string, root: string): boolean =>
  path === root || path.startsWith(root === sep ? root : root + sep);

const listed = (roots: readonly string[]): string => roots.map(showPath).join(" or ");
