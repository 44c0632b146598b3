import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { changesBetween, type Tree } from "../../domain/tree.ts";
import type { BlobStore } from "../blobs.ts";
import { Git } from "./git.ts";
import { TreeWriter } from "./git-tree.ts";

/**
 * The changes from one tree to another as git writes them, so that `git apply` takes them: modes, links and binary files
 * too. Made in a repository of its own that holds only the changed files.
 */
export async function diffTrees(
  before: Tree,
  after: Tree,
  blobs: BlobStore,
  { stat = false }: { readonly stat?: boolean } = {},
): Promise<Buffer> {
  const changes = changesBetween(before, after);
  if (changes.length === 0) return Buffer.alloc(0);
  const folder = await mkdtemp(join(tmpdir(), "maestro-diff-"));
  try {
    await (await Git.in(folder)).run(["init", "--quiet", "--bare", "--template=", "."]);
    const git = await Git.in(folder);
    const old = changes.flatMap(({ path }) => {
      const file = before.get(path);
      return file === undefined ? [] : [{ path, after: file }];
    });
    await using from = await TreeWriter.open(git, blobs);
    const oldTree = await from.write(old);
    const newTree = await from.write(changes);
    const how = stat ? ["--stat"] : ["--binary", "--full-index"];
    return await git.run(["diff", "--no-color", "--no-ext-diff", "--find-renames", ...how, oldTree, newTree]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
