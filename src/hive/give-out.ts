import { plannedPhases } from "../domain/planned.ts";
import type { SessionState } from "../domain/session-state.ts";
import { emptyTree } from "../domain/tree.ts";
import type { Artifacts } from "../state/artifacts.ts";
import type { OutResult } from "../workspace/out-result.ts";
import { loadTree } from "../workspace/stored-tree.ts";

/** The files as the last phase that is done left them, in a person's folder. */
export async function giveOut(
  state: SessionState,
  artifacts: Artifacts,
  directory: string,
): Promise<OutResult> {
  const { writeOut } = await import("../workspace/out.ts");
  let last: string | undefined;
  for (const { name } of plannedPhases(state.created.definition)) {
    const phase = state.phases.get(name);
    if (phase?.status === "completed" && phase.tree !== undefined) last = phase.tree;
  }
  const tree = last === undefined ? emptyTree : await loadTree(artifacts, last);
  return writeOut(tree, artifacts, directory);
}
