import { emptyTree, type Tree } from "../domain/tree.ts";
import type { SessionState } from "../journal/session-state.ts";
import { orderPhases } from "../team/definition/order.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";
import { type BlobStore, BlobsBeside } from "../workspace/blobs.ts";
import { loadTree } from "../workspace/stored-tree.ts";
import { handsOnEverything } from "./file-lineage.ts";

/** Files that somebody looks at, with where their bytes are. */
export interface LookedAtTree {
  readonly tree: Tree;
  readonly blobs: BlobStore;
}

/**
 * The files as the session has them now: of the last phase that is done, and in a graph of all branches together, merged
 * as for a phase that comes after all of them. Nothing is stored.
 */
export async function finalTree(state: SessionState, artifacts: BlobStore): Promise<LookedAtTree> {
  const definition = recordedDefinition(state.created.definition);
  const done = orderPhases(definition).filter((name) => state.phases.get(name)?.status === "completed");
  const isDone = new Set(done);
  const restedOn = new Set(
    definition.phases.flatMap(({ name, dependsOn }) => (isDone.has(name) ? dependsOn : [])),
  );
  const [last, ...others] = done.filter((name) => !restedOn.has(name));
  const load = (ref: string | undefined) => (ref === undefined ? emptyTree : loadTree(artifacts, ref));
  if (last === undefined || (others.length === 0 && handsOnEverything(definition, state))) {
    const tree = last === undefined ? undefined : state.phases.get(last)?.tree;
    return { tree: await load(tree), blobs: artifacts };
  }
  // Loaded where branches really meet: most who only look need no merging.
  const { mergeTrees } = await import("../workspace/merge.ts");
  const blobs = new BlobsBeside(artifacts);
  let ours: Tree = emptyTree;
  for (const name of done) {
    const { base, tree } = state.phases.get(name) ?? {};
    if (tree === base) continue;
    ours = (await mergeTrees({ base: await load(base), ours, theirs: await load(tree), blobs })).tree;
  }
  return { tree: ours, blobs };
}
