import { isInstalled } from "../domain/tree-path.ts";
import type { SessionState } from "../journal/session-state.ts";
import type { FinalTree } from "../run/final-files.ts";
import type { ArchiveEntry, ArchiveFormat } from "../workspace/archive/archive-entry.ts";
import { type TreeServices, treeAt } from "./tree-at.ts";

export interface ArchiveOptions {
  readonly format: ArchiveFormat;
  /** Default: the current files of the session. */
  readonly at?: string;
}

/**
 * Streams the files of one of the session's trees as an archive. The bytes depend only on the tree and the start of
 * the session, so every download is identical. Installed packages are left out.
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
