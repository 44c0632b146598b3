import { resolve } from "node:path";
import type { SessionState } from "../journal/session-state.ts";
import { installedIn } from "../run/setup/kept-paths.ts";
import type { WrittenOut } from "../workspace/out-plan.ts";
import type { ApplyConflict } from "../workspace/repository/apply-changes.ts";
import { type TreeServices, treeAt } from "./tree-at.ts";

/** The files of a sealed phase. Without a phase, the current files of the session. */
export interface FilesAt {
  readonly phase?: string;
  /** Default: the newest. */
  readonly revision?: number;
}

export interface OutResult extends WrittenOut {
  /** For a session with a source: why nothing was written. The folder has its own changes to the same files. */
  readonly conflicts: readonly ApplyConflict[];
}

/**
 * Writes the files into a folder of the user. If the session has a source and the folder has files, the differences
 * from the base are merged as `apply` does, all or none.
 */
export async function writeFiles(
  state: SessionState,
  services: TreeServices,
  directory: string,
  { phase, revision }: FilesAt,
): Promise<OutResult> {
  const { filledManifest, listOurs, writeOut } = await import("../workspace/out.ts");
  const named = revision === undefined ? `phase:${phase}` : `phase:${phase}@${revision}`;
  const { tree, blobs } = await treeAt(state, phase === undefined ? "head" : named, services);
  const isIn = await installedIn(state, services.artifacts);
  const delivered = new Map([...tree].filter(([path]) => !isIn(path)));
  const manifest = state.created.source === undefined ? undefined : await filledManifest(directory);
  if (manifest === undefined) return { ...(await writeOut(delivered, blobs, directory)), conflicts: [] };
  const { bringChanges } = await import("../run/acts/deliver.ts");
  const isOurs = manifest.files.size > 0;
  const wrote = isOurs ? { wrote: manifest.files } : {};
  const bringing = { directory: resolve(directory), ...wrote };
  const { written, removed, conflicts } = await bringChanges(
    state,
    { tree, blobs },
    bringing,
    services.artifacts,
  );
  if (isOurs && conflicts.length === 0) await listOurs(directory, delivered, manifest);
  return { written, removed, kept: [], conflicts };
}
