import { advise } from "../domain/advice.ts";
import { InputInvalid } from "../domain/errors.ts";
import { emptyTree } from "../domain/tree.ts";
import { isInstalled } from "../domain/tree-path.ts";
import { plannedPhases } from "../journal/planned.ts";
import type { SessionState } from "../journal/session-state.ts";
import { unknownPhase } from "../run/direction.ts";
import { type FinalTree, finalTree } from "../run/final-files.ts";
import type { Blobs } from "../store/blobs.ts";
import { SessionFiles } from "../store/session-files.ts";
import type { OutResult } from "../workspace/out-plan.ts";
import { loadTree } from "../workspace/stored-tree.ts";

/** The files of a sealed phase. Without a phase, the files as the session has them now. */
export interface FilesAt {
  readonly phase?: string;
  /** Default: the newest. */
  readonly revision?: number;
}

/** Writes the files into a folder of the user. */
export async function writeFiles(
  state: SessionState,
  { artifacts, stateDirectory }: { readonly artifacts: Blobs; readonly stateDirectory: string },
  directory: string,
  { phase, revision }: FilesAt,
): Promise<OutResult> {
  const { writeOut } = await import("../workspace/out.ts");
  const { tree, blobs } =
    phase === undefined
      ? await finalTree(state, artifacts)
      : await treeOf(state, phase, revision, artifacts, new SessionFiles(stateDirectory, state.id));
  const delivered = new Map([...tree].filter(([path]) => !isInstalled(path)));
  return writeOut(delivered, blobs, directory);
}

async function treeOf(
  state: SessionState,
  name: string,
  revision: number | undefined,
  blobs: Blobs,
  files: SessionFiles,
): Promise<FinalTree> {
  const phase = state.phases.get(name);
  const known = plannedPhases(state.created.definition).map((planned) => planned.name);
  if (phase === undefined && !known.includes(name)) throw unknownPhase(name, known);
  const isNewest = phase?.status === "completed" && (revision ?? phase.revision) === phase.revision;
  const sealed = isNewest || revision === undefined ? undefined : await files.readCheckpoint(name, revision);
  if (!isNewest && sealed === undefined) {
    const which = revision === undefined ? `Phase ${name}` : `Revision ${revision} of phase ${name}`;
    throw new InputInvalid(`${which} of session ${state.id} has no files yet.`, {
      details: { session: state.id, phase: name },
      advice: advise("List its checkpoints", "checkpoints", state.id),
    });
  }
  const tree = isNewest ? phase.tree : sealed?.content.tree;
  return { tree: tree === undefined ? emptyTree : await loadTree(blobs, tree), blobs };
}
