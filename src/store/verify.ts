import { ArtifactCorrupt, MaestroError, type SessionConflict, StorageFailed } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Blobs } from "./blobs.ts";
import { type CheckpointInfo, listCheckpoints } from "./list-checkpoints.ts";
import { newerWork } from "./newer-work.ts";
import type { Reference } from "./reports.ts";
import { SessionFiles } from "./session-files.ts";
import { readState } from "./session-journal.ts";
import type { Store } from "./store.ts";

interface Verified {
  readonly store: Store;
  readonly artifacts: Blobs;
  readonly stateDirectory: string;
}

const pageSize = 500;

/** Reads every row of a journal, verified by the chain and by the head in each seal. Returns their number. */
export async function verifyJournal(store: Store, id: SessionId): Promise<number> {
  let rows = 0;
  for await (const page of store.readJournal(id)) rows += page.length;
  return rows;
}

export interface VerifiedSession {
  readonly rows: number;
  readonly checkpoints: readonly CheckpointInfo[];
  /** The files have sealed work that the database lacks, so a resume is refused. */
  readonly conflict: SessionConflict | undefined;
}

/** Verifies the whole journal of a session and compares its checkpoints with it. */
export async function verifySession(
  id: SessionId,
  { store, stateDirectory }: Verified,
): Promise<VerifiedSession> {
  const rows = await verifyJournal(store, id);
  const state = await readState(store, id);
  return {
    rows,
    checkpoints: await listCheckpoints(stateDirectory, state, store),
    conflict: await newerWork(state, new SessionFiles(stateDirectory, id)),
  };
}

/** An artifact that was read. `error`: it is damaged or unreadable. */
export interface VerifiedArtifact extends Reference {
  readonly error: MaestroError | undefined;
}

/** Each artifact once, one at a time in the order of hashes, so that memory does not grow with their number. */
export async function* verifyArtifacts(
  { store, artifacts }: Verified,
  by?: SessionId,
): AsyncGenerator<VerifiedArtifact> {
  for (let after = ""; ; ) {
    const page = await store.reports.references({ by, after, limit: pageSize });
    for (const reference of page) {
      const error = await problemOf(reference.sha256, artifacts);
      // A session that was deleted meanwhile takes its artifacts along.
      if (error !== undefined && !(await isReferenced(reference.sha256, store, by))) continue;
      yield { ...reference, error };
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.sha256;
  }
}

async function isReferenced(sha256: string, store: Store, by: SessionId | undefined): Promise<boolean> {
  return (await store.reports.findReferenced([sha256], by)).size > 0;
}

async function problemOf(sha256: string, artifacts: Blobs): Promise<MaestroError | undefined> {
  try {
    await artifacts.get(sha256);
    return undefined;
  } catch (error) {
    if (ArtifactCorrupt.is(error) || StorageFailed.is(error)) return error;
    throw error;
  }
}
