import { LeaseHeld } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { finalStatuses } from "../domain/journal.ts";
import type { Artifacts } from "./artifacts.ts";
import { findParentsInUse } from "./half-made-forks.ts";
import { listSetAside, SessionFiles } from "./session-files.ts";
import type { SessionRecord, Store } from "./store.ts";

const unreferencedGraceMs = 24 * 3_600_000;
const pageSize = 500;

export interface RetentionPolicy {
  /** Finished sessions that were last touched before this long ago go. */
  readonly olderThanMs?: number;
  /** Of the finished sessions, only this many newest stay. */
  readonly keep?: number;
  readonly dryRun?: boolean;
}

export interface Pruned {
  readonly sessions: readonly string[];
  readonly artifacts: number;
}

export interface RetentionParts {
  readonly store: Store;
  readonly artifacts: Artifacts;
  readonly stateDirectory: string;
  readonly now: number;
}

/** Bounds the disk. Takes only sessions that are finished; what a live one needs is never touched. */
export async function prune(policy: RetentionPolicy, parts: RetentionParts): Promise<Pruned> {
  const inUse = await findParentsInUse(parts.store);
  const prunable = (await findPrunable(policy, parts)).flatMap(({ id }) => (inUse.has(id) ? [] : [id]));
  const sessions = policy.dryRun ? prunable : [];
  if (!policy.dryRun) {
    for (const id of prunable) {
      if (await removeSession(id, parts)) sessions.push(id);
    }
    await clearSetAside(parts);
  }
  const artifacts = await pruneArtifacts(parts, policy.dryRun ?? false);
  if (!policy.dryRun) await parts.store.reclaimSpace();
  return { sessions, artifacts };
}

async function clearSetAside({ store, stateDirectory }: RetentionParts): Promise<void> {
  for (const id of await listSetAside(stateDirectory)) {
    const files = new SessionFiles(stateDirectory, id);
    if ((await store.findSession(id)) === undefined) await files.removeAside();
    else await files.putBack();
  }
}

/** False when somebody took the session up again meanwhile. */
async function removeSession(id: SessionId, { store, stateDirectory }: RetentionParts): Promise<boolean> {
  const { status } = (await store.findSession(id)) ?? {};
  if (status === undefined || !finalStatuses.includes(status)) return false;
  const files = new SessionFiles(stateDirectory, id);
  // Out of sight first: a folder without rows would look like a lost session and be offered for resuming.
  await files.setAside();
  try {
    await store.deleteSession(id);
    return true;
  } catch (error) {
    await files.putBack();
    if (LeaseHeld.is(error)) return false;
    throw error;
  }
}

async function findPrunable(
  { olderThanMs, keep }: RetentionPolicy,
  { store, now }: RetentionParts,
): Promise<SessionRecord[]> {
  const prunable: SessionRecord[] = [];
  let seen = 0;
  for (let before: SessionRecord["id"] | undefined; ; ) {
    const page = await store.listSessions({
      statuses: finalStatuses,
      limit: pageSize,
      ...(before && { before }),
    });
    for (const session of page) {
      seen += 1;
      const tooOld = olderThanMs !== undefined && session.updatedAt < now - olderThanMs;
      const tooMany = keep !== undefined && seen > keep;
      if (tooOld || tooMany) prunable.push(session);
    }
    if (page.length < pageSize) return prunable;
    before = page.at(-1)?.id;
  }
}

/** Only what no session points to, and only after a day: somebody may be about to record a row that does. */
async function pruneArtifacts({ store, artifacts, now }: RetentionParts, dryRun: boolean): Promise<number> {
  let removed = 0;
  for await (const hash of artifacts.olderThan(now - unreferencedGraceMs)) {
    if ((await store.findReferenced([hash])).has(hash)) continue;
    removed += 1;
    if (!dryRun) await artifacts.remove(hash);
  }
  return removed;
}
