import { SessionConflict } from "../domain/errors.ts";
import { isSessionId, type SessionId } from "../domain/ids.ts";
import { Artifacts } from "./artifacts.ts";
import { artifactsOf, readLostSession } from "./restore.ts";
import { listSessionFolders } from "./session-files.ts";
import type { SessionRecord, Store } from "./store.ts";

/** Sessions that have a folder but no row: the database was lost, or comes from an older backup. */
export class LostSessions {
  readonly #stateDirectory: string;
  readonly #store: Store;
  readonly #report: (notice: string) => void;
  /** Looked for once: the database does not lose sessions while it is open. */
  #found: Promise<readonly SessionId[]> | undefined;
  readonly #keys = new Map<SessionId, { readonly key: string | undefined }>();

  constructor(stateDirectory: string, store: Store, report: (notice: string) => void) {
    this.#stateDirectory = stateDirectory;
    this.#store = store;
    this.#report = report;
  }

  list(): Promise<readonly SessionId[]> {
    this.#found ??= listSessionFolders(this.#stateDirectory).then((ids) => this.#store.findUnknown(ids));
    return this.#found;
  }

  async announce(): Promise<void> {
    const lost = await this.list().catch(() => []);
    if (lost.length === 0) return;
    const some = lost.slice(0, 3).join(", ") + (lost.length > 3 ? ", ..." : "");
    this.#report(
      `${lost.length} sessions have files but are not in the database (${some}). ` +
        "Resume one to bring it back from its checkpoints.",
    );
  }

  /** Undefined when no lost session has this id or key. */
  async bringBack(idOrKey: string): Promise<SessionRecord | undefined> {
    if (isSessionId(idOrKey) && (await this.list()).includes(idOrKey)) return this.#restore(idOrKey);
    return this.bringBackByKey(idOrKey);
  }

  async bringBackByKey(key: string): Promise<SessionRecord | undefined> {
    for (const id of await this.list()) {
      if ((await this.#keyOf(id)) === key) return this.#restore(id);
    }
    return undefined;
  }

  /** Read once: every new key is looked for here first. */
  async #keyOf(id: SessionId): Promise<string | undefined> {
    const known = this.#keys.get(id);
    if (known !== undefined) return known.key;
    const lost = await readLostSession(this.#stateDirectory, id).catch(() => undefined);
    this.#keys.set(id, { key: lost?.session.key });
    return lost?.session.key;
  }

  async #restore(id: SessionId): Promise<SessionRecord> {
    const { unused, ...lost } = await readLostSession(this.#stateDirectory, id);
    const artifacts = await artifactsOf(lost, new Artifacts(this.#stateDirectory));
    let session: SessionRecord;
    try {
      session = await this.#store.restoreSession({ ...lost, artifacts });
    } catch (error) {
      // Somebody else who looked at the same moment was first.
      const found = SessionConflict.is(error) ? await this.#store.findSession(id) : undefined;
      if (found === undefined) throw error;
      return found;
    } finally {
      this.#found = undefined;
    }
    const phases = lost.restored.checkpoints.length - 1;
    this.#report(
      `Session ${id} was not in the database; brought back from its checkpoints ` +
        `with ${phases} finished ${phases === 1 ? "phase" : "phases"}.` +
        (unused.length === 0 ? "" : ` Passed over: ${unused.join(", ")}.`),
    );
    return session;
  }
}
