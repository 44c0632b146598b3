import { lstat } from "node:fs/promises";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { advise } from "../domain/advice.ts";
import { InputInvalid, JournalCorrupt, SessionConflict } from "../domain/errors.ts";
import { leastIdPrefix, type SessionId } from "../domain/ids.ts";
import { hashesIn } from "../domain/tree.ts";
import { demandsOfState } from "../run/acts/trust.ts";
import type { Blobs } from "../store/blobs.ts";
import { writeDurably } from "../store/durable-file.ts";
import { projectExecutionState } from "../store/execution-state.ts";
import { restoredSession } from "../store/restore.ts";
import { SessionFiles } from "../store/session-files.ts";
import { readState } from "../store/session-journal.ts";
import type { Store } from "../store/store.ts";
import { verifyJournal } from "../store/verify.ts";
import { wholeCheckpoints } from "../store/whole-checkpoints.ts";
import type { Demand } from "../team/demands.ts";
import { exportFormat, exportKind, readExport, sessionOfExport } from "./read-export.ts";

const maxContentBytes = 256 * 1024 * 1024;
export interface Carried {
  readonly session: SessionId;
  readonly checkpoints: number;
  readonly artifacts: number;
  readonly bytes: number;
}

export interface Imported extends Carried {
  /** Whether it may run. */
  readonly trusted: boolean;
  /** The commands, files and addresses that the session would use. */
  readonly demands: readonly Demand[];
}

interface ExportParts {
  readonly store: Store;
  readonly artifacts: Blobs;
  readonly stateDirectory: string;
}

export async function exportCheckpoints(id: SessionId, file: string, parts: ExportParts): Promise<Carried> {
  const { store, artifacts } = parts;
  await refuseForeignFile(id, file);
  const texts = await textsOf(id, parts);
  const wanted = await artifactsOf(texts, id, store, artifacts);
  const contents = await Promise.all(
    wanted.map(async (hash) => (await artifacts.get(hash)).toString("base64")),
  );
  const size = [...texts, ...contents].reduce((sum, { length }) => sum + length, 0);
  // Check the size before joining: V8 cannot make a much longer text.
  if (size > maxContentBytes)
    throw new InputInvalid(`Session ${id} has ${size} bytes to export; the limit is ${maxContentBytes}.`, {
      advice: "Copy its folder under sessions/ and the artifacts folder instead.",
    });
  const text = JSON.stringify({
    kind: exportKind,
    format: exportFormat,
    session: id,
    checkpoints: texts,
    artifacts: contents,
  });
  const { gzip } = await import("node:zlib");
  const packed = await promisify(gzip)(text);
  await writeExport(file, packed);
  return { session: id, checkpoints: texts.length, artifacts: contents.length, bytes: packed.length };
}

/** Overwrite only an earlier export of the same session. */
async function refuseForeignFile(id: SessionId, file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined || (await sessionOfExport(file)) === id) return;
  throw new InputInvalid(`${file} already exists, and is not an export of session ${id}.`, {
    details: { session: id, file },
    advice: "Name another file.",
  });
}

/** Every checkpoint as it was sealed: the importing side has no journal to project them from. */
async function textsOf(id: SessionId, parts: ExportParts): Promise<string[]> {
  const reading = verifyJournal(parts.store, id).then(() => readState(parts.store, id));
  const state = await reading.catch((error: unknown) => {
    // The journal is damaged: use the files, each of which has its own seal.
    if (JournalCorrupt.is(error)) return undefined;
    throw error;
  });
  if (state !== undefined) return (await wholeCheckpoints(state, parts)).map(({ text }) => text);
  const found = await new SessionFiles(parts.stateDirectory, id).findCheckpoints();
  const damaged = found.find(({ error }) => error !== undefined)?.error;
  if (damaged !== undefined) throw damaged;
  return found.flatMap(({ checkpoint }) => checkpoint?.text ?? []);
}

export interface ImportOptions {
  /** A person has seen the session's demands and allows it to run. */
  readonly trust?: boolean;
}

/**
 * Proves everything before it writes anything. The rows commit before the files, and a claim rewrites missing
 * files: a kill leaves a whole session or none. The import mark is written before the checkpoints, so that no
 * imported checkpoint is ever on disk without it.
 */
export async function importCheckpoints(
  file: string,
  { trust = false }: ImportOptions,
  { store, artifacts, stateDirectory }: ExportParts,
): Promise<Imported> {
  const { session, checkpoints, state, contents, bytes } = await readExport(file);
  const files = new SessionFiles(stateDirectory, session);
  if ((await store.findSession(session)) !== undefined || (await files.isThere()))
    throw new SessionConflict(`Session ${session} already exists in this state directory.`, {
      details: { session },
      advice: advise("Show it", "show", session),
    });
  const { key } = state.begun;
  await refuseTakenKey(session, key, store);
  for (const content of contents.values()) await artifacts.put(content);
  const demands = demandsOfState(state);
  const mark = { trusted: trust, demands: demands.map(({ sentence }) => sentence) };
  const restored = restoredSession(state, checkpoints, mark);
  const { session: created, row } = await store.createSession({
    ...restored,
    artifacts: [...contents.keys()],
  });
  // Another process took the file or the key first.
  if (row === undefined) throw keyTaken(session, key, created.id);
  await files.markImport({ trusted: trust });
  for (const checkpoint of checkpoints) await files.writeCheckpoint(checkpoint);
  await files.writeExecutionState(projectExecutionState(await readState(store, session)));
  return {
    session,
    checkpoints: checkpoints.length,
    artifacts: contents.size,
    bytes,
    trusted: trust,
    demands,
  };
}

/**
 * The key comes from elsewhere. Two sessions cannot share it, and a person who types the beginning of an id must not
 * reach the imported session instead.
 */
async function refuseTakenKey(session: SessionId, key: string | undefined, store: Store): Promise<void> {
  if (key === undefined) return;
  const owner = await store.findSession(key);
  if (owner !== undefined) throw keyTaken(session, key, owner.id);
  const [other] = key.length < leastIdPrefix ? [] : await store.reports.findByPrefix(key);
  if (other === undefined) return;
  throw new SessionConflict(
    `Session ${session} cannot be imported: its key "${key}" is the beginning of the id of session ${other.id}.`,
    {
      details: { session, key, other: other.id },
      advice: "Import it into another state directory.",
    },
  );
}

const keyTaken = (session: SessionId, key: string | undefined, owner: SessionId): SessionConflict =>
  new SessionConflict(
    `Session ${session} cannot be imported: its key "${key}" belongs to session ${owner}.`,
    {
      details: { session, key, owner },
      advice: `Prune session ${owner} first.`,
    },
  );

/** The artifacts that the session references, found among all hashes in its checkpoints. A tree adds its files. */
async function artifactsOf(
  texts: readonly string[],
  id: SessionId,
  store: Store,
  artifacts: Blobs,
): Promise<string[]> {
  const named = new Set(texts.flatMap((text) => text.match(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g) ?? []));
  const referenced = await store.reports.findReferenced([...named], id);
  const wanted = new Set(referenced);
  for (const hash of referenced) {
    const content = (await artifacts.get(hash)).toString();
    for (const named of hashesIn(content) ?? []) wanted.add(named);
  }
  return [...wanted].sort();
}

/** The folder belongs to the user, so it is not created. */
async function writeExport(file: string, bytes: Uint8Array): Promise<void> {
  try {
    await writeDurably(resolve(file), bytes, {
      beforeRename: "export:before-rename",
      afterRename: "export:after-rename",
    });
  } catch (cause) {
    throw new InputInvalid(`The file ${file} cannot be written: ${(cause as Error).message}`, { cause });
  }
}
