import { advise } from "../domain/advice.ts";
import { SessionConflict, StateTooNew } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { type Checkpoint, checkpointFile } from "../journal/checkpoint.ts";
import { digestOf } from "../journal/reduce.ts";
import type { SessionState } from "../journal/session-state.ts";
import { SessionFiles } from "./session-files.ts";
import { readState } from "./session-journal.ts";
import type { Store } from "./store.ts";

interface Parts {
  readonly store: Store;
  readonly stateDirectory: string;
}

/**
 * Checkpoints on disk that continue the journal but are missing from it, in order: the database comes from an older
 * backup. A file that does not follow from the journal's last seal belongs to another history.
 */
export async function findNewer(state: SessionState, files: SessionFiles): Promise<readonly Checkpoint[]> {
  const { seals, createdHead } = state;
  const known = new Set([...seals.values()].map(({ phase, revision }) => checkpointFile(phase, revision)));
  const unknown = (await files.listSealed()).filter((file) => !known.has(file));
  if (unknown.length === 0) return [];
  const found = (await files.findCheckpoints()).filter(({ file }) => unknown.includes(file));
  // A file of another version is neither read nor ignored, because a resume would overwrite it.
  const foreign = found.find(({ error }) => StateTooNew.is(error))?.error;
  if (foreign !== undefined) throw foreign;
  const last = [...seals.values()].at(-1);
  let seq = last?.head.seq ?? createdHead.seq;
  let digest = last?.transitions ?? createdHead.transitions;
  const newer: Checkpoint[] = [];
  for (;;) {
    const next = found.find(({ checkpoint }) => checkpoint && continues(checkpoint, seq, digest))?.checkpoint;
    if (next === undefined) return newer;
    newer.push(next);
    ({ seq } = next.content.journal);
    digest = next.content.transitions;
  }
}

const continues = ({ content }: Checkpoint, seq: number, digest: string): boolean =>
  content.after === seq && content.rows.reduce(digestOf, digest) === content.transitions;

/**
 * Refuses to act on a session whose files are newer than the database, which would pay for sealed work again and
 * overwrite it. Runs before the claim, because the claim's row would take the place of a newer row. Counts files
 * first, which only lists the folder.
 */
export async function refuseOlderDatabase(id: SessionId, parts: Parts): Promise<void> {
  if (!(await hasMoreFiles(id, parts))) return;
  await refuseNewer(await readState(parts.store, id), new SessionFiles(parts.stateDirectory, id));
}

/** More checkpoints are on disk than the journal has sealed. */
export async function hasMoreFiles(id: SessionId, { store, stateDirectory }: Parts): Promise<boolean> {
  const { length: sealed } = await new SessionFiles(stateDirectory, id).listSealed();
  if (sealed === 0) return false;
  const [listed] = await store.reports.listed([id]);
  return sealed > (listed?.card?.checkpoints ?? 0);
}

/** File names of the newer work, for people. */
export async function newerFiles(state: SessionState, files: SessionFiles): Promise<readonly string[]> {
  const newer = await findNewer(state, files);
  return newer.map(({ content: { phase, revision } }) => checkpointFile(phase, revision));
}

/** Like `refuseOlderDatabase`, for a state that is already read. */
export async function refuseNewer(state: SessionState, files: SessionFiles): Promise<void> {
  const conflict = await newerWork(state, files);
  if (conflict !== undefined) throw conflict;
}

export async function newerWork(
  state: SessionState,
  files: SessionFiles,
): Promise<SessionConflict | undefined> {
  const names = await newerFiles(state, files);
  if (names.length === 0) return undefined;
  return new SessionConflict(
    `The database is older than the checkpoints of session ${state.id}: it does not know ${names.join(", ")}. It may come from an older backup.`,
    {
      details: { session: state.id, files: names },
      advice: advise("Take them into the database", "checkpoints", "restore", state.id),
    },
  );
}
