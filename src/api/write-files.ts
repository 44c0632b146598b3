import { isInstalled } from "../domain/tree-path.ts";
import type { SessionState } from "../journal/session-state.ts";
import type { OutResult } from "../workspace/out-plan.ts";
import { type TreeServices, treeAt } from "./tree-at.ts";

/** The files of a sealed phase. Without a phase, the files as the session has them now. */
export interface FilesAt {
  readonly phase?: string;
  /** Default: the newest. */
  readonly revision?: number;
}

/** Writes the files into a folder of the user. */
export async function writeFiles(
  state: SessionState,
  services: TreeServices,
  directory: string,
  { phase, revision }: FilesAt,
): Promise<OutResult> {
  const { writeOut } = await import("../workspace/out.ts");
  const named = revision === undefined ? `phase:${phase}` : `phase:${phase}@${revision}`;
  const { tree, blobs } = await treeAt(state, phase === undefined ? "head" : named, services);
  const delivered = new Map([...tree].filter(([path]) => !isInstalled(path)));
  return writeOut(delivered, blobs, directory);
}
