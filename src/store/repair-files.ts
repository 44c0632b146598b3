import { join } from "node:path";
import { MaestroError, StateTooNew, StorageFailed } from "../domain/errors.ts";
import { type Checkpoint, checkpointFile, initPhase } from "../journal/checkpoint.ts";
import type { Sealed, SessionState } from "../journal/session-state.ts";
import type { Blobs } from "./blobs.ts";
import { refuseNewer } from "./newer-work.ts";
import { projectAgain, projectStart } from "./seal-phase.ts";
import type { SessionFiles } from "./session-files.ts";
import type { Store } from "./store.ts";
import { stampOf, WholeFiles } from "./whole-files.ts";

export interface RepairParts {
  readonly store: Store;
  readonly artifacts: Blobs;
  readonly report: (problem: string) => void;
  readonly whole?: WholeFiles;
}

/** Each checkpoint that the journal knows as sealed must be intact on disk. Any other is projected again. */
export async function repairFiles(
  state: SessionState,
  files: SessionFiles,
  { store, artifacts, report, whole = new WholeFiles() }: RepairParts,
): Promise<void> {
  // If a known file is missing too, the count before the claim did not reveal the newer one.
  await refuseNewer(state, files);
  await files.removeLeftovers();
  await reportNewerSummary(state, files, report);
  // Before the checkpoints, which could otherwise be restored as a session of this state directory.
  await repairImportMark(state, files);
  const init = await projectStart(state, store);
  await repair({ phase: initPhase, revision: 1, sha256: init.sha256 }, init, files, report);
  const bad: Sealed[] = [];
  // Most files are intact, so compare seals before projecting anything.
  for (const sealed of state.seals.values()) if (!(await isWhole(files, sealed, whole))) bad.push(sealed);
  if (bad.length === 0) return;
  const again = await projectAgain(state.id, bad, { store, artifacts });
  for (const sealed of bad) await repair(sealed, again.get(sealed), files, report);
}

async function repairImportMark({ imported }: SessionState, files: SessionFiles): Promise<void> {
  if (imported === undefined) return;
  const trusted = imported === "trusted";
  const found = await files.readImport().catch((error: unknown) => {
    if (!isDamage(error)) throw error;
    return undefined;
  });
  if (found?.trusted !== trusted) await files.markImport({ trusted });
}

async function isWhole(
  files: SessionFiles,
  { phase, revision, sha256 }: Sealed,
  whole: WholeFiles,
): Promise<boolean> {
  const path = join(files.folder, checkpointFile(phase, revision));
  if (await whole.isKnown(path, sha256)) return true;
  try {
    const before = await stampOf(path, sha256);
    if ((await files.readCheckpoint(phase, revision))?.sha256 !== sha256) return false;
    whole.remember(path, before);
    return true;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return false;
  }
}

async function repair(
  { phase, revision, sha256 }: Pick<Sealed, "phase" | "revision" | "sha256">,
  projected: Checkpoint | undefined,
  files: SessionFiles,
  report: (problem: string) => void,
): Promise<void> {
  let problem = "is missing";
  try {
    const found = await files.readCheckpoint(phase, revision);
    if (found?.sha256 === sha256) return;
    if (found !== undefined) problem = "is not the one the journal knows";
  } catch (error) {
    if (!isDamage(error)) throw error;
    problem = "is damaged";
  }
  if (projected !== undefined) await files.writeCheckpoint(projected);
  const outcome =
    projected !== undefined
      ? "written again from the journal"
      : "and cannot be written again as it was sealed; left as it is";
  const which = revision === 1 ? phase : `${phase}.${revision}`;
  report(`Checkpoint ${which} of session ${files.id} ${problem}; ${outcome}.`);
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
    if (state.restoredSeq !== undefined) {
      const gone = summary.journal.seq - state.restoredSeq;
      if (gone > 0)
        report(
          `${gone} rows of session ${state.id} after its newest checkpoint are gone with the database; what they recorded is done again.`,
        );
      return;
    }
    report(
      `The database knew ${seq} rows of session ${state.id}, its execution_state.json ${summary.journal.seq}: ` +
        "the database may come from an older backup. The session continues from the database.",
    );
  } catch (error) {
    if (!isDamage(error)) throw error;
    report(`execution_state.json of session ${state.id} is damaged; it is written again from the journal.`);
  }
}

/** An unreadable file, or one of another version, may be intact, so it is not overwritten. */
const isDamage = (error: unknown): boolean =>
  MaestroError.is(error) && !StateTooNew.is(error) && !StorageFailed.is(error);
