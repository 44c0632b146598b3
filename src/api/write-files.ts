import { advise } from "../domain/advice.ts";
import { InputInvalid } from "../domain/errors.ts";
import { emptyTree } from "../domain/tree.ts";
import { isInstalled } from "../domain/tree-path.ts";
import { plannedPhases } from "../journal/planned.ts";
import type { SessionState } from "../journal/session-state.ts";
import { finalTree, type LookedAtTree } from "../run/final-tree.ts";
import { unknownPhase } from "../run/selection.ts";
import type { Artifacts } from "../store/artifacts.ts";
import { SessionFiles } from "../store/session-files.ts";
import type { OutResult } from "../workspace/out-plan.ts";
import { loadTree } from "../workspace/stored-tree.ts";

/** Which files: as the session has them now, or as a checkpoint of a phase sealed them. */
export interface FilesAt {
  readonly phase?: string;
  /** The newest unless named. */
  readonly revision?: number;
}

/** In a person's folder. */
export async function giveOut(
  state: SessionState,
  { artifacts, stateDirectory }: { readonly artifacts: Artifacts; readonly stateDirectory: string },
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
  blobs: Artifacts,
  files: SessionFiles,
): Promise<LookedAtTree> {
  const phase = state.phases.get(name);
  const known = plannedPhases(state.created.definition).map((planned) => planned.name);
  if (phase === undefined && !known.includes(name)) throw unknownPhase(name, known);
  const isNewest = phase?.status === "completed" && (revision ?? phase.revision) === phase.revision;
  const sealed = isNewest || revision === undefined ? undefined : await files.readCheckpoint(name, revision);
  if (!isNewest && sealed === undefined) {
    const which = revision === undefined ? `Phase ${name}` : `Revision ${revision} of phase ${name}`;
    throw new InputInvalid(`${which} of session ${state.id} has left no files yet.`, {
      details: { session: state.id, phase: name },
      advice: advise("List its checkpoints", "checkpoints", state.id),
    });
  }
  const tree = isNewest ? phase.tree : sealed?.content.tree;
  return { tree: tree === undefined ? emptyTree : await loadTree(blobs, tree), blobs };
}
