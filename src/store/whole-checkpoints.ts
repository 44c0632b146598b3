import { CheckpointCorrupt, StateTooNew } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Checkpoint } from "../journal/checkpoint.ts";
import type { SessionState } from "../journal/session-state.ts";
import type { Blobs } from "./blobs.ts";
import { compareWithJournal } from "./list-checkpoints.ts";
import { projectAgain } from "./seal-phase.ts";
import type { Store } from "./store.ts";

/**
 * Every checkpoint that the journal knows, as sealed. A missing or damaged file is projected from the journal
 * again, also for a finished session.
 */
export async function wholeCheckpoints(
  state: SessionState,
  parts: { readonly store: Store; readonly artifacts: Blobs; readonly stateDirectory: string },
): Promise<readonly Checkpoint[]> {
  const { found, missing } = await compareWithJournal(parts.stateDirectory, state, parts.store);
  const tooNew = found.find(({ error }) => StateTooNew.is(error))?.error;
  if (tooNew !== undefined) throw tooNew;
  const whole = new Map(
    found.flatMap(({ file, known, checkpoint }) => (known && checkpoint ? [[file, checkpoint]] : [])),
  );
  const isBad = ({ known, checkpoint }: (typeof found)[number]) => known?.sha256 !== checkpoint?.sha256;
  const bad = [...missing, ...found.filter(isBad).flatMap(({ known }) => known ?? [])];
  const again = await projectAgain(state.id, bad, parts);
  for (const sealed of bad) {
    const checkpoint = again.get(sealed);
    if (checkpoint === undefined) throw notWhole(state.id, sealed.file);
    whole.set(sealed.file, checkpoint);
  }
  return [...whole.values()];
}

const notWhole = (session: SessionId, file: string): CheckpointCorrupt =>
  new CheckpointCorrupt(`${file} of session ${session} is not as it was sealed.`, {
    details: { session, file },
    advice: "Its files are damaged too, or another version of Maestro sealed it: restore it from a backup.",
  });
