import { fromManifest, toManifest } from "../../../src/domain/tree.ts";
import { mergeTrees } from "../../../src/workspace/merge.ts";
import { MemoryBlobs } from "./memory-blobs.ts";

export type Files = Readonly<Record<string, string | Uint8Array>>;

export async function merged(base: Files, ours: Files, theirs: Files) {
  const blobs = new MemoryBlobs();
  const result = await mergeTrees({
    base: blobs.tree(base),
    ours: blobs.tree(ours),
    theirs: blobs.tree(theirs),
    blobs,
  });
  // Whatever comes out must be a tree that can be loaded.
  fromManifest(toManifest(result.tree));
  const conflicts = result.conflicts.map(({ path, kind, other }) => [
    path,
    kind,
    ...(other === undefined ? [] : [other]),
  ]);
  return { ...result, blobs, files: blobs.texts(result.tree), kinds: conflicts };
}
