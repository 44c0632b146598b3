import { advise } from "../domain/advice.ts";
import type { Cursor } from "../domain/cursor.ts";
import { InputInvalid, JournalCorrupt, LeaseHeld, MaestroError, SessionConflict } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { finalStatuses } from "../journal/standing.ts";
import type { Blobs } from "./blobs.ts";
import { pruneTickets } from "./prune-tickets.ts";
import { findUnknown } from "./reports.ts";
import { artifactsOf, readLostSession } from "./restore.ts";
import { rowsOfNewer } from "./restore-newer.ts";
import { listSessionFolders, listSetAside, SessionFiles } from "./session-files.ts";
import type { SessionRecord, Store } from "./store.ts";
import { Uploads } from "./uploads.ts";

const unreferencedGraceMs = 24 * 3_600_000;
const pageSize = 500;

export interface RetentionPolicy {
  /** Remove finished sessions that were last used longer ago than this. */
  readonly olderThanMs?: number;
  /** Keep this many of the newest finished sessions. */
  readonly keep?: number;
  readonly dryRun?: boolean;
}

export interface Pruned {
  readonly sessions: readonly string[];
  readonly artifacts: number;
  /** Delivered tickets that are no longer needed. */
  readonly tickets: number;
  /** Uploads that sessions can no longer use. */
  readonly uploads: number;
}

export interface RetentionParts {
  readonly store: Store;
  readonly artifacts: Blobs;
  readonly stateDirectory: string;
  readonly now: number;
  /** Notices for people about kept data. */
  readonly report: (notice: string) => void;
}

export interface PruneParts extends RetentionParts {
  readonly removeTicketFile: (fingerprint: string) => Promise<void>;
}

/** Bounds the disk usage. Removes only finished sessions, and nothing that a live one needs. */
export async function prune(policy: RetentionPolicy, parts: PruneParts): Promise<Pruned> {
  // Runs before any long read: sessions that a killed prune moved aside are not lost sessions.
  if (!policy.dryRun) await clearSetAside(parts);
  const needed = await neededByLostSessions(parts);
  const prunable = (await findPrunable(policy, parts)).map(({ id }) => id);
  const sessions = policy.dryRun ? prunable : [];
  if (!policy.dryRun) {
    for (const id of prunable) {
      if (await removeSession(id, parts)) sessions.push(id);
    }
    await clearSetAside(parts);
  }
  const { olderThanMs, dryRun = false } = policy;
  const tickets = await pruneTickets({
    store: parts.store,
    sessions,
    before: olderThanMs === undefined ? undefined : parts.now - olderThanMs,
    dryRun,
    removeFile: parts.removeTicketFile,
  });
  const artifacts = await pruneArtifacts(parts, needed, dryRun);
  const uploads = await new Uploads(parts.stateDirectory).removeExpired(parts.now, { dryRun });
  if (!dryRun) await parts.store.maintenance.reclaimSpace();
  return { sessions, artifacts, tickets, uploads };
}

async function clearSetAside({ store, stateDirectory }: RetentionParts): Promise<void> {
  for (const id of await listSetAside(stateDirectory)) {
    const files = new SessionFiles(stateDirectory, id);
    if ((await store.findSession(id)) === undefined) await files.removeAside();
    else await files.putBack();
  }
}

/** False if another process resumed the session meanwhile. */
async function removeSession(id: SessionId, { store, stateDirectory }: RetentionParts): Promise<boolean> {
  const { status } = (await store.findSession(id)) ?? {};
  if (status === undefined || !finalStatuses.includes(status)) return false;
  const files = new SessionFiles(stateDirectory, id);
  // Move the folder aside first: without rows it would look like a lost session and be offered for resuming.
  await files.setAside();
  try {
    await store.deleteSession(id, { onlyFinished: true });
    await files.removeAside();
    return true;
  } catch (error) {
    await files.putBack();
    if (LeaseHeld.is(error) || SessionConflict.is(error)) return false;
    throw error;
  }
}

/** A session with a damaged journal can be neither resumed nor canceled, so no other prune would ever remove it. */
export async function removeDamaged(id: SessionId, parts: RetentionParts): Promise<Pruned> {
  try {
    for await (const _ of parts.store.readJournal(id));
  } catch (error) {
    if (!JournalCorrupt.is(error)) throw error;
    const files = new SessionFiles(parts.stateDirectory, id);
    await files.setAside();
    await parts.store.deleteSession(id);
    await files.removeAside();
    return { sessions: [id], artifacts: 0, tickets: 0, uploads: 0 };
  }
  throw new InputInvalid(`The journal of session ${id} is not damaged.`, {
    advice: advise("Cancel it; prune removes it later", "cancel", id),
  });
}

async function findPrunable(
  { olderThanMs, keep }: RetentionPolicy,
  { store, now }: RetentionParts,
): Promise<SessionRecord[]> {
  const prunable: SessionRecord[] = [];
  let seen = 0;
  for (let after: Cursor | undefined; ; ) {
    const page = await store.reports.list({
      statuses: finalStatuses,
      order: "created",
      limit: pageSize,
      after,
    });
    for (const session of page) {
      seen += 1;
      const tooOld = olderThanMs !== undefined && session.updatedAt < now - olderThanMs;
      const tooMany = keep !== undefined && seen > keep;
      if (tooOld || tooMany) prunable.push(session);
    }
    if (page.length < pageSize) return prunable;
    after = page.at(-1)?.cursor;
  }
}

/**
 * Artifacts that only files reference, of lost sessions and of newer work: references are stored with rows, which a
 * restore adds. Undefined if a lost session is unreadable, so that its needs are unknown.
 */
async function neededByLostSessions({
  store,
  artifacts,
  stateDirectory,
  report,
}: RetentionParts): Promise<ReadonlySet<string> | undefined> {
  const needed = new Set<string>();
  const unreadable: string[] = [];
  const folders = await listSessionFolders(stateDirectory);
  const unknown = new Set(await findUnknown(store.reports, folders));
  for (const id of folders) {
    try {
      if (!unknown.has(id)) {
        const copied = await rowsOfNewer(id, { store, stateDirectory });
        for (const hash of await artifactsOf({ copied }, artifacts)) needed.add(hash);
        continue;
      }
      const lost = await readLostSession(stateDirectory, id);
      for (const hash of await artifactsOf(lost.session, artifacts)) needed.add(hash);
      // A person may have an intact copy of the damaged checkpoint, whose artifacts are here.
      if (lost.unused.length > 0) unreadable.push(id);
    } catch (error) {
      if (!MaestroError.is(error)) throw error;
      unreadable.push(id);
    }
  }
  if (unreadable.length === 0) return needed;
  report(
    `No artifact is removed: ${unreadable.join(", ")} ${unreadable.length === 1 ? "has" : "have"} files that the ` +
      "database does not know and that cannot all be read. Resume them, restore them from a backup, or remove their folders.",
  );
  return undefined;
}

/** Removes only artifacts and writes no row, so it works on a full disk. */
export async function removeUnneeded(parts: RetentionParts): Promise<number> {
  return pruneArtifacts(parts, await neededByLostSessions(parts), false);
}

/** Removes unreferenced artifacts after a day: a process may be about to record a row that references one. */
async function pruneArtifacts(
  { store, artifacts, now }: Pick<RetentionParts, "store" | "artifacts" | "now">,
  neededByTheLost: ReadonlySet<string> | undefined,
  dryRun: boolean,
): Promise<number> {
  if (neededByTheLost === undefined) return 0;
  const isNeeded = async (hash: string) =>
    neededByTheLost.has(hash) || (await store.reports.findReferenced([hash])).has(hash);
  const before = now - unreferencedGraceMs;
  let removed = 0;
  for await (const hash of artifacts.olderThan(before)) {
    if (await isNeeded(hash)) continue;
    if (dryRun || (await artifacts.remove(hash, before, isNeeded))) removed += 1;
  }
  return removed;
}
