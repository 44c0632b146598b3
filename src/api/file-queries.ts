import { advise } from "../domain/advice.ts";
import { InputInvalid } from "../domain/errors.ts";
import { emptyTree, emptyTreeHash, type Tree } from "../domain/tree.ts";
import type { SessionState } from "../journal/session-state.ts";
import type { ApplyOptions } from "../run/acts/deliver.ts";
import type { ChangedFile, DiffOptions } from "../run/acts/session-diff.ts";
import type { TakenAttachment, TakenUpload } from "../run/acts/take-upload.ts";
import { finalTree } from "../run/final-files.ts";
import type { Blobs } from "../store/blobs.ts";
import { readState } from "../store/session-journal.ts";
import { Uploads, type WaitingUpload } from "../store/uploads.ts";
import type { Applied } from "../workspace/repository/apply-changes.ts";
import { loadTree } from "../workspace/stored-tree.ts";
import type { Carried } from "./export-import.ts";
import type { QueryServices } from "./services.ts";
import type { ArchiveOptions } from "./session-archive.ts";
import { SessionLookup } from "./session-lookup.ts";
import type { FilesAt, OutResult } from "./write-files.ts";

export interface SessionDiffOptions extends Omit<DiffOptions, "against"> {
  /** Id or key of a session to compare with, instead of the base. */
  readonly against?: string;
}

/** Reads a session's files and writes them outside the state directory. */
export class FileQueries extends SessionLookup {
  readonly #services: QueryServices;

  constructor(services: QueryServices) {
    super(services);
    this.#services = services;
  }

  /** The content of an artifact of this session. */
  async artifact(idOrKey: string, sha256: string): Promise<Buffer> {
    const { id } = await this.find(idOrKey);
    const { store, artifacts } = this.#services;
    if ((await store.reports.findReferenced([sha256], id)).size > 0) return artifacts.get(sha256);
    const state = await readState(store, id);
    const holds = (files: Tree) => [...files.values()].some((file) => file.sha256 === sha256);
    // The first files of a session are stored together, and the session references all of them at once.
    const began = state.created.source?.tree;
    if (began !== undefined && holds(await loadTree(artifacts, began))) return artifacts.get(sha256);
    // Where a graph ends in several branches, the merged files are made for the query and not stored.
    const { tree, blobs } = await finalTree(state, artifacts);
    if (blobs !== artifacts && holds(tree)) return blobs.get(sha256);
    throw new InputInvalid(`Session ${id} has no artifact ${sha256.slice(0, 64)}.`, {
      details: { session: id },
      advice: advise("List its artifacts", "show", id, "--json"),
    });
  }

  /** The path and the hash of every file in a tree of the session. */
  async files(idOrKey: string, tree: string): Promise<Tree> {
    if (tree === emptyTreeHash) return emptyTree;
    await this.artifact(idOrKey, tree);
    return loadTree(this.#services.artifacts, tree);
  }

  /** The changes of the session, or a part of them, as input for `git apply`. */
  async diff(idOrKey: string, options: SessionDiffOptions = {}): Promise<Buffer> {
    const { sessionDiff } = await import("../run/acts/session-diff.ts");
    return sessionDiff(...(await this.#compared(idOrKey, options)));
  }

  /** The changed files of the same difference, with counts of lines. */
  async changedFiles(
    idOrKey: string,
    options: Omit<SessionDiffOptions, "stat"> = {},
  ): Promise<readonly ChangedFile[]> {
    const { sessionChanges } = await import("../run/acts/session-diff.ts");
    return sessionChanges(...(await this.#compared(idOrKey, options)));
  }

  async #compared(
    idOrKey: string,
    { against, ...options }: SessionDiffOptions,
  ): Promise<[SessionState, Blobs, DiffOptions]> {
    const { store, artifacts } = this.#services;
    const stateOf = async (named: string) => readState(store, (await this.find(named)).id);
    const other = against === undefined ? {} : { against: await stateOf(against) };
    return [await stateOf(idOrKey), artifacts, { ...options, ...other }];
  }

  /** One tree of the session; see `treeAt`. */
  async treeAt(idOrKey: string, at: string): Promise<Tree> {
    const { id } = await this.find(idOrKey);
    const { treeAt } = await import("./tree-at.ts");
    return (await treeAt(await readState(this.#services.store, id), at, this.#services)).tree;
  }

  /** The files of one of its trees as a zip or tar.gz. */
  async archive(idOrKey: string, options: ArchiveOptions): Promise<AsyncIterable<Buffer>> {
    const { id } = await this.find(idOrKey);
    const { sessionArchive } = await import("./session-archive.ts");
    return sessionArchive(await readState(this.#services.store, id), options, this.#services);
  }

  /** Stores the files of a tar.gz or zip, for sessions to start with. */
  async takeUpload(body: AsyncIterable<Uint8Array>): Promise<TakenUpload> {
    const { takeUpload } = await import("../run/acts/take-upload.ts");
    return takeUpload(body, { ...this.#services, uploads: new Uploads(this.stateDirectory) });
  }

  /** Stores one image or text, to be sent with a brief. */
  async takeAttachment(name: string, body: AsyncIterable<Uint8Array>): Promise<TakenAttachment> {
    const { takeAttachment } = await import("../run/acts/take-upload.ts");
    return takeAttachment(name, body, { ...this.#services, uploads: new Uploads(this.stateDirectory) });
  }

  /** Uploads that sessions can still use, and remains of the others. */
  uploads(): Promise<readonly WaitingUpload[]> {
    return new Uploads(this.stateDirectory).list();
  }

  /** Applies the session's changes to a folder. Default: its repository. */
  async apply(idOrKey: string, options: ApplyOptions = {}): Promise<Applied> {
    const { id } = await this.find(idOrKey);
    const [{ applySession }, { refuseUntrustedState }] = await Promise.all([
      import("../run/acts/deliver.ts"),
      import("../run/acts/trust.ts"),
    ]);
    const state = await readState(this.#services.store, id);
    refuseUntrustedState(state);
    return applySession(state, options, this.#services.artifacts);
  }

  /** The folder of the session's repository on this machine, or its clone. Null when neither is known. */
  async repositoryFolder(idOrKey: string): Promise<string | null> {
    const { store, stateDirectory } = this.#services;
    const { created, imported } = await readState(store, (await this.find(idOrKey)).id);
    if (created.source?.git === undefined || imported !== undefined) return null;
    const { folderOf } = await import("../run/programs/read-checks-only.ts");
    return folderOf(created.source.git, created.source.commit, stateDirectory);
  }

  /** Writes the current files of the session, or those of a checkpoint. Leaves other files alone. */
  async writeFiles(idOrKey: string, directory: string, at: FilesAt = {}): Promise<OutResult> {
    const { id } = await this.find(idOrKey);
    const { writeFiles } = await import("./write-files.ts");
    return writeFiles(await readState(this.#services.store, id), this.#services, directory, at);
  }

  /** Writes one file that another machine can resume the session from. */
  async exportCheckpoints(idOrKey: string, file: string): Promise<Carried> {
    const { id } = await this.find(idOrKey);
    const { exportCheckpoints } = await import("./export-import.ts");
    return exportCheckpoints(id, file, this.#services);
  }
}
