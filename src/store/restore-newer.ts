import { advise } from "../domain/advice.ts";
import { SessionConflict } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { type Checkpoint, checkpointFile } from "../journal/checkpoint.ts";
import { checkHistory } from "../journal/history.ts";
import type { SessionState } from "../journal/session-state.ts";
import type { Blobs } from "./blobs.ts";
import { findNewer, hasMoreFiles } from "./newer-work.ts";
import { artifactsOf, connected, copiedRow, endRows } from "./restore.ts";
import { SessionFiles } from "./session-files.ts";
import { readState } from "./session-journal.ts";
import type { CopiedRow, Store } from "./store.ts";
import { wholeCheckpoints } from "./whole-checkpoints.ts";

interface Parts {
  readonly store: Store;
  readonly artifacts: Blobs;
  readonly stateDirectory: string;
}

export interface RestoredWork {
  readonly session: SessionId;
  /** Files that the database lacked, in order. */
  readonly checkpoints: readonly string[];
  /** Number of rows added to the journal. */
  readonly rows: number;
}

/**
 * Adds checkpoints that are newer than the database, in one transaction: their rows keep their seq, after the
 * existing ones. Checkpoints contain no steps, and no sealed phase needs them.
 */
export async function restoreNewer(id: SessionId, parts: Parts): Promise<RestoredWork> {
  const { store, artifacts, stateDirectory } = parts;
  const state = await readState(store, id);
  const newer = await findNewer(state, new SessionFiles(stateDirectory, id));
  const newest = newer.at(-1);
  if (newest === undefined) return { session: id, checkpoints: [], rows: 0 };
  const known = await wholeCheckpoints(state, parts);
  const after = checkHistory(connected([...known, ...newer]), `Restore sessions/${id} from a backup.`);
  const copied = await rowsBehind(state, newer, store);
  const appended = endRows(after, newest);
  await store.maintenance.restoreRows({
    id,
    head: state.head,
    copied,
    appended,
    artifacts: await artifactsOf({ copied }, artifacts),
    usage: newest.content.usage ?? [],
  });
  return {
    session: id,
    checkpoints: newer.map(({ content: { phase, revision } }) => checkpointFile(phase, revision)),
    rows: copied.length + appended.length,
  };
}

/** The rows of newer checkpoints; none if the database has them all, which listing the folder shows. */
export async function rowsOfNewer(
  id: SessionId,
  { store, stateDirectory }: Pick<Parts, "store" | "stateDirectory">,
): Promise<readonly CopiedRow[]> {
  if (!(await hasMoreFiles(id, { store, stateDirectory }))) return [];
  const newer = await findNewer(await readState(store, id), new SessionFiles(stateDirectory, id));
  return newer.flatMap(({ content }) => content.rows).map(copiedRow);
}

/**
 * The rows that the journal lacks. The rows that both have must be equal; otherwise the histories diverged after
 * the backup.
 */
async function rowsBehind(
  { id, head }: SessionState,
  newer: readonly Checkpoint[],
  store: Store,
): Promise<CopiedRow[]> {
  const rows = newer.flatMap(({ content }) => content.rows).map(copiedRow);
  const from = newer[0]?.content.after ?? head.seq;
  const recorded: string[] = [];
  for await (const page of store.readTransitions(id, from))
    for (const { seq, at, kind, body } of page) recorded.push(`${seq} ${at} ${kind} ${body}`);
  const told = rows.filter(({ seq }) => seq <= head.seq);
  const isSame =
    recorded.length === told.length &&
    told.every(({ seq, at, kind, body }, place) => recorded[place] === `${seq} ${at} ${kind} ${body}`);
  if (isSame) return rows.filter(({ seq }) => seq > head.seq);
  throw new SessionConflict(
    `The journal of session ${id} went another way than its newer checkpoints: rows after ${from} differ.`,
    {
      details: { session: id, seq: from },
      advice: [
        advise(
          "To keep the checkpoints, restore a newer maestro.db, or none at all, and resume the session.",
        ),
        advise(
          `To keep the journal, move the newer checkpoints out of sessions/${id}, and resume it`,
          "resume",
          id,
        ),
      ],
    },
  );
}
