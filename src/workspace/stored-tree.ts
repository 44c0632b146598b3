import { ArtifactCorrupt } from "../domain/errors.ts";
import {
  baseHashOf,
  emptyTree,
  emptyTreeHash,
  fromManifest,
  LayeredTree,
  type Tree,
  toManifest,
} from "../domain/tree.ts";
import type { BlobStore } from "./blobs.ts";
import { decodeText } from "./text.ts";

/** Trees never change, so stored or loaded ones are not hashed again. */
const known = new WeakMap<BlobStore, WeakMap<Tree, string>>();

export async function loadTree(blobs: BlobStore, hash: string): Promise<Tree> {
  if (hash === emptyTreeHash) return emptyTree;
  const shared = bases.get(blobs)?.get(hash)?.deref();
  if (shared !== undefined) return shared;
  const text = decodeText(await blobs.get(hash));
  if (text === undefined) throw new ArtifactCorrupt(`Artifact ${hash} is not the manifest of a tree.`);
  const under = baseHashOf(text);
  const tree = fromManifest(text, under === undefined ? emptyTree : await loadTree(blobs, under));
  remember(blobs, tree, hash);
  return tree;
}

/** Bases are shared by the trees over them, because one may have 100,000 files. */
const bases = new WeakMap<BlobStore, Map<string, WeakRef<Tree>>>();

/** The manifest is durable when it returns. Its blobs must be durable before. */
export async function storeTree(blobs: BlobStore, tree: Tree): Promise<string> {
  const stored = storedHash(blobs, tree);
  if (stored !== undefined) return stored;
  const hash = await blobs.put(toManifest(tree));
  remember(blobs, tree, hash);
  return hash;
}

/** The hash of a tree whose manifest is known to be in the store. */
export function storedHash(blobs: BlobStore, tree: Tree): string | undefined {
  if (tree instanceof LayeredTree && tree.changes.size === 0)
    return bases.get(blobs)?.has(tree.base.hash) ? tree.base.hash : undefined;
  return tree.size === 0 ? emptyTreeHash : known.get(blobs)?.get(tree);
}

function remember(blobs: BlobStore, tree: Tree, hash: string): void {
  if (tree instanceof LayeredTree && tree.base.hash === hash) {
    const shared = bases.get(blobs) ?? new Map<string, WeakRef<Tree>>();
    bases.set(blobs, shared.set(hash, new WeakRef(tree)));
    return;
  }
  const trees = known.get(blobs) ?? new WeakMap<Tree, string>();
  known.set(blobs, trees.set(tree, hash));
}
