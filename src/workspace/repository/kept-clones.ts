import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { bytesBelow } from "../folder-size.ts";
import { removeFolder } from "../remove-folder.ts";
import { Git } from "./git.ts";

/** A start fetches the clone before its session references it. */
const unreferencedGraceMs = 24 * 3_600_000;

export interface KeptClone {
  /** Its address. */
  readonly git: string;
  readonly commit: string;
  readonly bytes: number;
}

const namesIn = async (stateDirectory: string): Promise<readonly string[]> =>
  (await readdir(join(stateDirectory, "repositories")).catch(() => [])).filter((name) =>
    /^[0-9a-f]{64}$/.test(name),
  );

/** Clones of repositories that were fetched by address. */
export async function listClones(stateDirectory: string): Promise<readonly KeptClone[]> {
  const found: KeptClone[] = [];
  for (const name of await namesIn(stateDirectory)) {
    const folder = join(stateDirectory, "repositories", name);
    const git = await Git.in(folder);
    const [address, commit] = await Promise.all([
      git.try(["config", "--get", "remote.origin.url"]),
      git.try(["rev-parse", "HEAD"]),
    ]);
    found.push({
      git: address.stdout.toString().trim(),
      commit: commit.stdout.toString().trim(),
      bytes: await bytesBelow([folder], Number.POSITIVE_INFINITY, new AbortController().signal),
    });
  }
  return found;
}

/** Removes clones that no session needs and that were unused for a day. Returns their number. */
export async function pruneClones(
  stateDirectory: string,
  { now, dryRun, isReferenced }: PruneClones,
): Promise<number> {
  let removed = 0;
  for (const name of await namesIn(stateDirectory)) {
    const folder = join(stateDirectory, "repositories", name);
    const used = await stat(folder).catch(() => undefined);
    if (used === undefined || used.mtimeMs > now - unreferencedGraceMs || (await isReferenced(name)))
      continue;
    if (!dryRun) await removeFolder(folder);
    removed += 1;
  }
  return removed;
}

interface PruneClones {
  readonly now: number;
  readonly dryRun: boolean;
  readonly isReferenced: (hash: string) => Promise<boolean>;
}
