import { changesBetween, type Tree, withChanges } from "../../domain/tree.ts";
import { isInstalled } from "../../domain/tree-path.ts";
import type { SessionState } from "../../journal/session-state.ts";
import { recordedDefinition } from "../../team/definition/recorded.ts";
import { findSetups } from "../../team/find-setup.ts";
import type { BlobStore } from "../../workspace/blobs.ts";
import { globMatcher } from "../../workspace/glob.ts";
import { foldersAbove } from "../../workspace/open-folder.ts";
import { loadTree } from "../../workspace/stored-tree.ts";

/**
 * Whether a path is in a folder of installed dependencies: `node_modules`, and what the session's setups keep. What a
 * persona writes there is not delivered; a file that the repository has there is.
 */
export async function installedIn(
  { created }: SessionState,
  blobs: BlobStore,
): Promise<(path: string) => boolean> {
  if (created.source === undefined) return isInstalled;
  const base = await loadTree(blobs, created.source.tree);
  const { setup: written } = recordedDefinition(created.definition);
  const setups = written === false ? [] : (written ?? findSetups(base));
  const kept = setups.flatMap(({ keep }) => keep.filter((place) => !place.startsWith("~/"))).map(globMatcher);
  return (path) =>
    isInstalled(path) ||
    (!base.has(path) && foldersAbove(path).some((folder) => kept.some((matches) => matches(folder))));
}

/** The second tree without what differs in such folders. */
export const withoutInstalled = (base: Tree, tree: Tree, isIn: (path: string) => boolean): Tree =>
  withChanges(
    base,
    changesBetween(base, tree).filter(({ path }) => !isIn(path)),
  );
