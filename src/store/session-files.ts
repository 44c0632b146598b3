import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { CheckpointCorrupt, MaestroError, StorageFailed } from "../domain/errors.ts";
import { isSessionId, parseSessionId, type SessionId } from "../domain/ids.ts";
import { type Checkpoint, checkpointFile, initPhase, readCheckpoint } from "../journal/checkpoint.ts";
import { sealedLimitBytes } from "../journal/seal.ts";
import {
  makeDirectoryDurably,
  readBounded,
  readFileBounded,
  removeTemporaries,
  unreadable,
  writeDurably,
} from "./durable-file.ts";
import { type ExecutionState, executionStateFile, readExecutionState } from "./execution-state.ts";
import { reach } from "./fault-points.ts";

const asideSuffix = ".pruned";
const importFile = "import.json";
const importMarkBytes = 1_024;
const checkpointForm = /^checkpoint_(?<phase>[A-Za-z][A-Za-z0-9_-]*)(?:\.(?<revision>[1-9]\d*))?\.json$/;

/** A checkpoint file found on disk, valid or not. */
export interface FoundCheckpoint {
  readonly file: string;
  readonly phase: string;
  readonly revision: number;
  readonly checkpoint: Checkpoint | undefined;
  /** Why it is invalid. */
  readonly error: MaestroError | undefined;
}

export interface ImportMark {
  /** Whether a person trusts it. */
  readonly trusted: boolean;
}

/**
 * The folder of one session: files that people can read, copy elsewhere and resume from. Projections, never the
 * truth.
 */
export class SessionFiles {
  readonly folder: string;
  readonly id: SessionId;
  readonly #stateDirectory: string;

  constructor(stateDirectory: string, id: SessionId) {
    this.#stateDirectory = stateDirectory;
    this.folder = join(sessionsFolder(stateDirectory), parseSessionId(id));
    this.id = id;
  }

  async writeCheckpoint({ content, text }: Checkpoint): Promise<void> {
    await makeDirectoryDurably(this.folder, this.#stateDirectory);
    await writeDurably(join(this.folder, checkpointFile(content.phase, content.revision)), text);
  }

  /** Undefined if the file is missing. Throws if it is damaged. */
  async readCheckpoint(phase: string, revision: number): Promise<Checkpoint | undefined> {
    const path = join(this.folder, checkpointFile(phase, revision));
    const found = await readFileBounded(path, sealedLimitBytes);
    if (found === "missing") return undefined;
    if (typeof found === "string")
      throw new CheckpointCorrupt(`${path} is ${found}`, { details: { what: path, why: found } });
    const checkpoint = readCheckpoint(found, path);
    const { content } = checkpoint;
    if (content.sessionId === this.id && content.phase === phase && content.revision === revision)
      return checkpoint;
    throw new CheckpointCorrupt(
      `${path} is not what its name says: it is checkpoint ${content.phase} of session ${content.sessionId}`,
      { details: { what: path, why: "another checkpoint under this name" } },
    );
  }

  async findCheckpoints(): Promise<FoundCheckpoint[]> {
    const found: FoundCheckpoint[] = [];
    for (const file of await listOrNothing(this.folder)) {
      const groups = checkpointForm.exec(file)?.groups;
      if (groups?.["phase"] === undefined) continue;
      const [phase, revision] = [groups["phase"], Number(groups["revision"] ?? 1)];
      try {
        found.push({
          file,
          phase,
          revision,
          checkpoint: await this.readCheckpoint(phase, revision),
          error: undefined,
        });
      } catch (error) {
        // An unreadable file may be intact, so nothing may be restored or written without it.
        if (!MaestroError.is(error) || StorageFailed.is(error)) throw error;
        found.push({ file, phase, revision, checkpoint: undefined, error });
      }
    }
    return found.sort((one, other) => placeOf(one) - placeOf(other));
  }

  /** The file names of sealed phases. Lists the folder and reads no file. */
  async listSealed(): Promise<string[]> {
    const names = await listOrNothing(this.folder);
    return names.filter((name) => {
      const phase = checkpointForm.exec(name)?.groups?.["phase"];
      return phase !== undefined && phase !== initPhase;
    });
  }

  async isThere(): Promise<boolean> {
    return (await stat(this.folder).catch(ignoreMissing))?.isDirectory() ?? false;
  }

  /** For a session that was never created. */
  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Records that these files were imported, which the files themselves do not say. */
  async markImport(mark: ImportMark): Promise<void> {
    await makeDirectoryDurably(this.folder);
    await writeDurably(join(this.folder, importFile), `${JSON.stringify(mark)}\n`);
  }

  /** Undefined for a session of this state directory. An unreadable mark counts as untrusted. */
  async readImport(): Promise<ImportMark | undefined> {
    const bytes = await readBounded(join(this.folder, importFile), importMarkBytes);
    return bytes && { trusted: bytes.toString() === `${JSON.stringify({ trusted: true })}\n` };
  }

  async writeExecutionState(text: string): Promise<void> {
    await makeDirectoryDurably(this.folder, this.#stateDirectory);
    await writeDurably(join(this.folder, executionStateFile), text);
  }

  /** Undefined if missing. Throws if damaged. */
  async readExecutionState(): Promise<ExecutionState | undefined> {
    const path = join(this.folder, executionStateFile);
    const bytes = await readBounded(path, sealedLimitBytes);
    return bytes && readExecutionState(bytes, path);
  }

  /** Removes half-written files of a killed driver. Only the holder of the lease may call it. */
  async removeLeftovers(): Promise<void> {
    await removeTemporaries(this.folder);
  }

  /** Moves the folder out of sight until it is restored or removed for good. */
  async setAside(): Promise<void> {
    // One that a killed prune left is outdated: the folder was completely rewritten since.
    await this.removeAside();
    reach?.("session.aside:before-rename");
    await rename(this.folder, this.folder + asideSuffix).catch(ignoreMissing);
    reach?.("session.aside:after-rename");
  }

  async removeAside(): Promise<void> {
    reach?.("session.aside:before-remove");
    await rm(this.folder + asideSuffix, { recursive: true, force: true });
  }

  /** A folder that was rewritten meanwhile wins, because it was projected from the journal. */
  async putBack(): Promise<void> {
    reach?.("session.back:before-rename");
    try {
      await rename(this.folder + asideSuffix, this.folder);
      reach?.("session.back:after-rename");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOTEMPTY" || code === "EEXIST") await this.removeAside();
      else if (code !== "ENOENT") throw error;
    }
  }
}

export async function listSessionFolders(stateDirectory: string): Promise<SessionId[]> {
  return (await listOrNothing(sessionsFolder(stateDirectory))).filter(isSessionId);
}

/** When a folder was last added, removed or renamed, in milliseconds; undefined if there never was one. */
export async function sessionFoldersChangedAt(stateDirectory: string): Promise<number | undefined> {
  const found = await stat(sessionsFolder(stateDirectory)).catch(ignoreMissing);
  return found && Math.ceil(found.mtimeMs);
}

/** Sessions that a prune moved aside. It may have been killed before it deleted them. */
export async function listSetAside(stateDirectory: string): Promise<SessionId[]> {
  return (await listOrNothing(sessionsFolder(stateDirectory)))
    .filter((name) => name.endsWith(asideSuffix))
    .map((name) => name.slice(0, -asideSuffix.length))
    .filter(isSessionId);
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

function sessionsFolder(stateDirectory: string): string {
  return join(stateDirectory, "sessions");
}

async function listOrNothing(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw unreadable(folder, error);
  }
}

/** In the order of sealing. Given phases share the row of the start and follow it. */
function placeOf({ phase, checkpoint }: FoundCheckpoint): number {
  return phase === initPhase ? 0 : (checkpoint?.content.journal.seq ?? Infinity);
}
