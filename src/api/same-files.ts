import { advise } from "../domain/advice.ts";
import { SessionConflict } from "../domain/errors.ts";
import { changesBetween, sameFile } from "../domain/tree.ts";
import type { ReadSource } from "../run/acts/read-source.ts";
import { finalTree } from "../run/final-files.ts";
import { readState } from "../store/session-journal.ts";
import type { SessionRecord } from "../store/store.ts";
import { loadTree } from "../workspace/stored-tree.ts";
import type { Services } from "./services.ts";

/**
 * The source that a known session started with, if its repository is still the same: each file unchanged, or
 * changed by the session itself. Otherwise the first `--apply` would turn the same command into a different one.
 */
export async function asBegun(
  { id, key }: SessionRecord,
  now: ReadSource,
  { store, artifacts }: Pick<Services, "store" | "artifacts">,
): Promise<ReadSource> {
  const state = await readState(store, id);
  const begun = state.created.source;
  const { source } = now;
  if (source.git === undefined || begun?.git !== source.git || begun.ref !== source.ref) return now;
  if (begun.commit === source.commit && begun.tree === source.tree) return now;
  if (begun.commit === source.commit) {
    const [base, present] = [await loadTree(artifacts, begun.tree), await loadTree(artifacts, source.tree)];
    const { tree: made } = await finalTree(state, artifacts);
    // A file that the session added is not tracked yet, so the base does not have it.
    const isOwn = changesBetween(base, present).every(({ path, after }) => sameFile(made.get(path), after));
    if (isOwn) return { source: begun, artifacts: [] };
  }
  throw new SessionConflict(
    `The key "${key}" belongs to session ${id}, and ${source.git} has changed since it began.`,
    {
      details: { key, session: id },
      advice: [
        advise("Resume that session with the files that it began with", "resume", id),
        advise("Or use another key."),
      ],
    },
  );
}
