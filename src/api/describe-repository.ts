import { basename } from "node:path";
import { InputInvalid } from "../domain/errors.ts";
import type { FoundCheck } from "../run/setup/find-checks.ts";
import type { FoundSetup } from "../team/find-setup.ts";

/** How a repository's own files say it is prepared and checked. */
export interface RepositoryDescription {
  readonly folder: string;
  /** The name of its folder. */
  readonly name: string;
  readonly setups: readonly FoundSetup[];
  readonly checks: readonly FoundCheck[];
  /** Its package.json names packages, and no committed lockfile says which versions to install. */
  readonly lacksLockfile: boolean;
}

/** Reads the repository and runs nothing from it. */
export async function describeRepository(path: string): Promise<RepositoryDescription> {
  const { findRepository } = await import("../workspace/repository/find-repository.ts");
  const { listFiles } = await import("../workspace/repository/list-files.ts");
  const { readFiles } = await import("../workspace/repository/checks-only.ts");
  const { findSetups } = await import("../team/find-setup.ts");
  const { findChecks, hasNodeDependencies, manifestFiles } = await import("../run/setup/find-checks.ts");
  const repository = await findRepository(path, undefined);
  const paths = (await listFiles(repository)).files.map((file) => file.path);
  const known = new Set(paths);
  const has = (file: string): boolean => known.has(file);
  const { root, commit, isWorkingTree } = repository;
  const contents = new Map<string, string>();
  for (const file of manifestFiles.filter(has)) {
    const read = await readFiles({ folder: root, commit, isWorkingTree, paths: [file] }).catch(unreadable);
    const content = read.get(file);
    if (content !== undefined) contents.set(file, content.toString());
  }
  const setups = findSetups(known);
  const text = (file: string): string | undefined => contents.get(file);
  return {
    folder: root,
    name: basename(root),
    setups,
    checks: findChecks({ has, text, paths }),
    lacksLockfile: hasNodeDependencies({ text }) && !setups.some(installsTopModules),
  };
}

const installsTopModules = ({ keep, folder }: FoundSetup): boolean =>
  folder === undefined && keep.includes("**/node_modules");

/** A manifest that is missing, a link or too large adds nothing. */
function unreadable(error: unknown): ReadonlyMap<string, Buffer> {
  if (InputInvalid.is(error)) return new Map();
  throw error;
}
