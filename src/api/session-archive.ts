import { isInstalled } from "../domain/tree-path.ts";
import type { SessionState } from "../journal/session-state.ts";
import type { FinalTree } from "../run/final-files.ts";
import type { ArchiveEntry, ArchiveFormat } from "../workspace/archive/archive-entry.ts";
import { type TreeServices, treeAt } from "./tree-at.ts";

export interface ArchiveOptions {
  readonly format: ArchiveFormat;
  /** Default: the files as the session has them now. */
  readonly at?: string;
}

/**
 * The files of one of the session's trees as an archive, read while it is sent. It depends on the tree and the session's
 * start only: sent again, it has the same bytes. Installed packages are left out, as everywhere.
 */
export async function sessionArchive(
  state: SessionState,
  { format, at = "head" }: ArchiveOptions,
  services: TreeServices,
): Promise<AsyncIterable<Buffer>> {
  const found = await treeAt(state, at, services);
  const { at: time } = state.createdHead;
  if (format === "zip")
    return (await import("../workspace/archive/write-zip.ts")).writeZip(entriesOf(found), time);
  return (await import("../workspace/archive/write-tar.ts")).writeTarGz(entriesOf(found), time);
}

async function* entriesOf({ tree, blobs }: FinalTree): AsyncGenerator<ArchiveEntry> {
  const paths = [...tree.keys()].filter((path) => !isInstalled(path)).sort();
  for (const path of paths) {
    const file = tree.get(path);
    if (file !== undefined) yield { path, mode: file.mode, content: await blobs.get(file.sha256) };
  }
}
