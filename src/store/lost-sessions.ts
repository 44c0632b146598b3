import { SessionConflict } from "../domain/errors.ts";
import { isSessionId, type SessionId } from "../domain/ids.ts";
import type { Blobs } from "./blobs.ts";
import { findUnknown } from "./reports.ts";
import { artifactsOf, readLostSession } from "./restore.ts";
import { listSessionFolders, SessionFiles, sessionFoldersChangedAt } from "./session-files.ts";
import { readState } from "./session-journal.ts";
import type { Comparison, SessionRecord, Store } from "./store.ts";

/**
 * A session's folder is created right after its row. A recent change may be followed by another within the same
 * file system tick.
 */
const tickMs = 1_000;

interface LostOptions {
  /** False where nothing may be written. */
  readonly remembers?: boolean;
}

/** Sessions that have a folder but no row: the database was lost, or comes from an older backup. */
export class LostSessions {
  readonly #stateDirectory: string;
  readonly #store: Store;
  readonly #artifacts: Blobs;
  readonly #report: (notice: string) => void;
  /** Computed once: an open database does not lose sessions. */
  #noticed: Promise<readonly SessionId[]> | undefined;
  #found: Promise<readonly SessionId[]> | undefined;
  readonly #keys = new Map<SessionId, { readonly key: string | undefined }>();

  readonly #remembers: boolean;
  #isSaid = false;

  constructor(
    stateDirectory: string,
    store: Store,
    artifacts: Blobs,
    report: (notice: string) => void,
    { remembers = false }: LostOptions = {},
  ) {
    this.#remembers = remembers;
    this.#stateDirectory = stateDirectory;
    this.#store = store;
    this.#artifacts = artifacts;
    this.#report = report;
  }

  /** Checks every folder. */
  list(): Promise<readonly SessionId[]> {
    this.#found ??= listSessionFolders(this.#stateDirectory).then((ids) =>
      findUnknown(this.#store.reports, ids),
    );
    return this.#found;
  }

  /** For each start: skips the check when only sessions of this database can have been added since the last one. */
  notice(): Promise<readonly SessionId[]> {
    this.#noticed ??= this.#notice();
    return this.#noticed;
  }

  async #notice(): Promise<readonly SessionId[]> {
    const changedAt = await sessionFoldersChangedAt(this.#stateDirectory);
    if (changedAt === undefined || isCompared(changedAt, await this.#store.maintenance.findComparison()))
      return [];
    const lost = await this.list();
    if (this.#remembers) await this.#remember(lost.length === 0 ? changedAt : undefined);
    return lost;
  }

  /** Only spares the next process the check. */
  async #remember(changedAt: number | undefined): Promise<void> {
    // Another change may follow within the same tick of the file system's clock.
    if (changedAt !== undefined && Date.now() - changedAt < tickMs) return;
    await this.#store.maintenance.rememberComparison(changedAt).catch(() => undefined);
  }

  /** Reports once. `exact`: check every folder, ignoring the remembered comparison. */
  async announce({ exact = false } = {}): Promise<void> {
    const lost = await (exact ? this.list() : this.notice()).catch(() => []);
    if (lost.length === 0 || this.#isSaid) return;
    this.#isSaid = true;
    const some = lost.slice(0, 3).join(", ") + (lost.length > 3 ? ", ..." : "");
    this.#report(
      `${lost.length === 1 ? "1 session has files but is" : `${lost.length} sessions have files but are`} not in the database (${some}). ` +
        "Resume one to bring it back from its checkpoints.",
    );
  }

  /** Undefined if no lost session has this id or key. */
  async bringBack(idOrKey: string): Promise<SessionRecord | undefined> {
    if (isSessionId(idOrKey) && (await this.#isLost(idOrKey))) return this.#restore(idOrKey);
    return this.bringBackByKey(idOrKey);
  }

  async bringBackByKey(key: string): Promise<SessionRecord | undefined> {
    for (const id of await this.notice()) {
      if ((await this.#keyOf(id)) === key) return this.#restore(id);
    }
    return undefined;
  }

  async #isLost(id: SessionId): Promise<boolean> {
    const isThere = await new SessionFiles(this.#stateDirectory, id).isThere();
    return isThere && (await this.#store.findSession(id)) === undefined;
  }

  /** Read once, because every new key is searched here first. */
  async #keyOf(id: SessionId): Promise<string | undefined> {
    const known = this.#keys.get(id);
    if (known !== undefined) return known.key;
    const lost = await readLostSession(this.#stateDirectory, id).catch(() => undefined);
    this.#keys.set(id, { key: lost?.session.key });
    return lost?.session.key;
  }

  async #restore(id: SessionId): Promise<SessionRecord> {
    const { unused, session: lost } = await readLostSession(this.#stateDirectory, id);
    const artifacts = await artifactsOf(lost, this.#artifacts);
    let session: SessionRecord;
    try {
      ({ session } = await this.#store.createSession({ ...lost, artifacts }));
    } catch (error) {
      // Another process restored it at the same moment.
      const found = await this.#store.findSession(id);
      if (found === undefined) throw error;
      return found;
    } finally {
      this.#found = undefined;
      this.#noticed = undefined;
    }
    if (session.id !== id) throw keyTaken(id, session);
    const { phases: known } = await readState(this.#store, id);
    const phases = [...known.values()].filter(({ status }) => status === "completed").length;
    this.#report(
      `Session ${id} was not in the database; brought back from its checkpoints ` +
        `with ${phases} finished ${phases === 1 ? "phase" : "phases"}.` +
        (unused.length === 0 ? "" : ` Passed over: ${unused.join(", ")}.`),
    );
    return session;
  }
}

/** A session created meanwhile has the key of the restored session. */
function keyTaken(id: SessionId, { id: owner, key }: SessionRecord): SessionConflict {
  return new SessionConflict(
    `Session ${id} cannot be restored: its key "${key}" belongs to session ${owner}.`,
    {
      details: { session: id, key, owner },
      advice: `Prune session ${owner} first, or keep the folder of ${id} elsewhere.`,
    },
  );
}

/**
 * The row of a session is written before its folder. So if the folders last changed no later than the newest
 * session or the last comparison, the database lacks none of them. A newer change may be a session that an older
 * backup lacks, or a folder that a person copied.
 */
function isCompared(changedAt: number, { comparedAt, newestAt }: Comparison): boolean {
  if (comparedAt === undefined) return false;
  // A session from the future was created under another clock and proves nothing.
  const newest = newestAt === undefined || newestAt > Date.now() ? 0 : newestAt + tickMs;
  return changedAt <= Math.max(comparedAt, newest);
}
