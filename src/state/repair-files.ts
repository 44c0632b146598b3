import { MaestroError, StateTooNew } from "../domain/errors.ts";
import { type Json, parseJson } from "../domain/json.ts";
import { plannedPhases } from "../domain/planned.ts";
import type { SessionState } from "../domain/session-state.ts";
import { emptyTree, treeHash } from "../domain/tree.ts";
import type { Artifacts } from "./artifacts.ts";
import { type Checkpoint, initPhase, type Predecessor, projectInit, projectPhase } from "./checkpoint.ts";
import type { SessionFiles } from "./session-files.ts";

/** Each checkpoint the journal knows as sealed must be on disk, whole and equal; what is not is projected again. */
export async function repairFiles(
  state: SessionState,
  files: SessionFiles,
  artifacts: Artifacts,
  report: (problem: string) => void,
): Promise<void> {
  await files.removeLeftovers();
  await reportNewerSummary(state, files, report);
  const init = projectInit(state);
  await repair(init, init.sha256, files, report);
  for (const [phase, { checkpoint: sealed, tree }] of state.phases) {
    if (sealed === undefined) continue;
    // Most files are whole: they are compared by their seal before anything is projected.
    if (await isWhole(files, phase, sealed)) continue;
    const manifest = await manifestOf(artifacts, tree);
    const projected = projectPhase(state, phase, predecessorsOf(state, phase), manifest);
    await repair(projected, sealed.sha256, files, report);
  }
}

/** The phases it rests on, or the start. */
export function predecessorsOf(state: SessionState, phase: string): Predecessor[] {
  const planned = plannedPhases(state.created.definition).find(({ name }) => name === phase);
  const sealed = (planned?.dependsOn ?? []).flatMap((name) => {
    const { checkpoint } = state.phases.get(name) ?? {};
    return checkpoint === undefined ? [] : [{ phase: name, ...checkpoint }];
  });
  if (sealed.length > 0) return sealed;
  return [{ phase: initPhase, revision: 1, sha256: state.initSha256 ?? projectInit(state).sha256 }];
}

const emptyTreeHash = treeHash(emptyTree);

/** The manifest of a phase's files, as its checkpoint carries it. */
export async function manifestOf(artifacts: Artifacts, tree: string | undefined): Promise<Json | undefined> {
  if (tree === undefined) return undefined;
  // The tree without files has a hash, and is in no store.
  if (tree === emptyTreeHash) return [];
  return parseJson(await artifacts.get(tree), { what: "a tree" });
}

async function isWhole(
  files: SessionFiles,
  phase: string,
  sealed: { readonly revision: number; readonly sha256: string },
): Promise<boolean> {
  try {
    return (await files.readCheckpoint(phase, sealed.revision))?.sha256 === sealed.sha256;
  } catch (error) {
    if (StateTooNew.is(error) || !MaestroError.is(error)) throw error;
    return false;
  }
}

async function repair(
  projected: Checkpoint,
  sealed: string,
  files: SessionFiles,
  report: (problem: string) => void,
): Promise<void> {
  const { phase, revision, sessionId } = projected.content;
  let problem = "is missing";
  try {
    const found = await files.readCheckpoint(phase, revision);
    if (found?.sha256 === sealed) return;
    if (found !== undefined) problem = "is not the one the journal knows";
  } catch (error) {
    if (StateTooNew.is(error) || !MaestroError.is(error)) throw error;
    problem = "is damaged";
  }
  if (projected.sha256 === sealed) await files.writeCheckpoint(projected);
  const outcome =
    projected.sha256 === sealed
      ? "written again from the journal"
      : "and the journal's seal is of another version; left as it is";
  report(`Checkpoint ${phase} of session ${sessionId} ${problem}; ${outcome}.`);
}

/** A summary that knows more rows than the journal means that the database is older than the files. */
async function reportNewerSummary(
  state: SessionState,
  files: SessionFiles,
  report: (problem: string) => void,
): Promise<void> {
  try {
    const summary = await files.readExecutionState();
    if (summary === undefined) return;
    const { seq, hash } = state.inherited;
    const isKnown =
      summary.journal.seq < seq || (summary.journal.seq === seq && summary.journal.hash === hash);
    if (isKnown) return;
    report(
      `The database knew ${seq} rows of session ${state.id}, its execution_state.json ${summary.journal.seq}: ` +
        "the database may come from an older backup. Going on from the database.",
    );
  } catch (error) {
    if (StateTooNew.is(error) || !MaestroError.is(error)) throw error;
    report(`execution_state.json of session ${state.id} is damaged; it is written again from the journal.`);
  }
}
