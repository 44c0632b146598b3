import { open, readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { advise } from "../domain/advice.ts";
import { sha256 } from "../domain/canonical.ts";
import {
  CheckpointCorrupt,
  InputInvalid,
  JournalCorrupt,
  SessionConflict,
  StateTooNew,
} from "../domain/errors.ts";
import { isSessionId, type SessionId } from "../domain/ids.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../domain/json.ts";
import { fromManifest } from "../domain/tree.ts";
import { initPhase, readCheckpoint } from "../journal/checkpoint.ts";
import { checkHistory } from "../journal/history.ts";
import type { Blobs } from "../store/blobs.ts";
import { writeDurably } from "../store/durable-file.ts";
import { type CheckpointInfo, compareWithJournal } from "../store/list-checkpoints.ts";
import { LostSessions } from "../store/lost-sessions.ts";
import { connected } from "../store/restore.ts";
import { projectAgain } from "../store/seal-phase.ts";
import { SessionFiles } from "../store/session-files.ts";
import { readState } from "../store/session-journal.ts";
import type { Store } from "../store/store.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";
import type { Services } from "./services.ts";

/** One file with everything that a session needs to resume elsewhere: its checkpoints and the artifacts they name. */
const kind = "maestro-checkpoints";
const format = 1;
const exportAgain = advise(
  "Export it again from the state directory that has the session",
  "checkpoints",
  "export",
  "<session>",
  "<file>",
);
const maxFileBytes = 1024 * 1024 * 1024;
const maxContentBytes = 256 * 1024 * 1024;
/** Checkpoints are texts within a text: each quote of theirs takes another byte. */
const maxUnpackedBytes = 480 * 1024 * 1024;

export interface Carried {
  readonly session: SessionId;
  readonly checkpoints: number;
  readonly artifacts: number;
  readonly bytes: number;
}

interface ExportParts {
  readonly store: Store;
  readonly artifacts: Blobs;
  readonly stateDirectory: string;
}

export async function exportCheckpoints(id: SessionId, file: string, parts: ExportParts): Promise<Carried> {
  const { store, artifacts } = parts;
  const texts = await wholeCheckpoints(id, parts);
  const wanted = await artifactsOf(texts, id, store, artifacts);
  const contents = await Promise.all(
    wanted.map(async (hash) => (await artifacts.get(hash)).toString("base64")),
  );
  const size = [...texts, ...contents].reduce((sum, { length }) => sum + length, 0);
  // Checked before it becomes one text: V8 cannot make a much longer one.
  if (size > maxContentBytes)
    throw new InputInvalid(`Session ${id} has ${size} bytes to export; the limit is ${maxContentBytes}.`, {
      advice: "Copy its folder under sessions/ and the artifacts folder instead.",
    });
  const text = JSON.stringify({ kind, format, session: id, checkpoints: texts, artifacts: contents });
  const { gzip } = await import("node:zlib");
  const packed = await promisify(gzip)(text);
  await writeExport(file, packed);
  return { session: id, checkpoints: texts.length, artifacts: contents.length, bytes: packed.length };
}

/** All of them, each as it was sealed: the importing side has no journal to project them from. */
async function wholeCheckpoints(id: SessionId, parts: ExportParts): Promise<string[]> {
  const { store, stateDirectory } = parts;
  const state = await readState(store, id).catch((error: unknown) => {
    // Only the files are left, each with its own seal.
    if (JournalCorrupt.is(error)) return undefined;
    throw error;
  });
  if (state === undefined) {
    const found = await new SessionFiles(stateDirectory, id).findCheckpoints();
    const damaged = found.find(({ error }) => error !== undefined)?.error;
    if (damaged !== undefined) throw damaged;
    return found.flatMap(({ checkpoint }) => checkpoint?.text ?? []);
  }
  const { found, missing } = await compareWithJournal(stateDirectory, state, store);
  const tooNew = found.find(({ error }) => StateTooNew.is(error))?.error;
  if (tooNew !== undefined) throw tooNew;
  const texts = new Map(
    found.flatMap(({ file, checkpoint }) => (checkpoint ? [[file, checkpoint.text]] : [])),
  );
  const isBad = ({ known, checkpoint }: (typeof found)[number]) => known?.sha256 !== checkpoint?.sha256;
  const bad = [...missing, ...found.filter(isBad).flatMap(({ known }) => known ?? [])];
  // A file that is missing or damaged is projected from the journal again, also of a finished session.
  const again = await projectAgain(id, bad, parts);
  for (const sealed of bad) {
    const { file } = sealed;
    const checkpoint = again.get(sealed);
    if (checkpoint === undefined) throw notWhole(id, file);
    texts.set(file, checkpoint.text);
  }
  const known = new Set([...missing, ...found.flatMap((each) => each.known ?? [])].map(({ file }) => file));
  return [...texts].flatMap(([file, text]) => (known.has(file) ? [text] : []));
}

const notWhole = (session: SessionId, file: string): CheckpointCorrupt =>
  new CheckpointCorrupt(`${file} of session ${session} is not as it was sealed.`, {
    details: { session, file },
    advice: "Its files are damaged too, or another version of Maestro sealed it: restore it from a backup.",
  });

/** Proves everything before it writes anything; a refused import leaves no session and no files. */
export async function importCheckpoints(
  file: string,
  { store, artifacts, stateDirectory, onNotice }: ExportParts & Pick<Services, "onNotice">,
): Promise<Carried> {
  const packed = await readPacked(file);
  const { session, key, checkpoints, contents } = await unpack(packed, file);
  if ((await store.findSession(session)) !== undefined)
    throw new SessionConflict(`Session ${session} already exists in this state directory.`, {
      details: { session },
      advice: advise("Show it", "show", session),
    });
  await refuseTakenKey(session, key, store);
  const files = new SessionFiles(stateDirectory, session);
  const hadFiles = await files.isThere();
  try {
    for (const content of contents) await artifacts.put(content);
    for (const checkpoint of checkpoints) await files.writeCheckpoint(checkpoint);
    // A new instance: one that has compared the folders before does not see these files.
    await new LostSessions(stateDirectory, store, artifacts, onNotice).bringBack(session);
  } catch (error) {
    // A concurrent import of the same file may have succeeded; the files are its own then.
    if (!hadFiles && (await store.findSession(session)) === undefined) await files.remove();
    throw error;
  }
  return {
    session,
    checkpoints: checkpoints.length,
    artifacts: contents.length,
    bytes: packed.length,
  };
}

/** A session with the key that started elsewhere: two sessions cannot share it. */
async function refuseTakenKey(session: SessionId, key: string | undefined, store: Store): Promise<void> {
  const owner = key === undefined ? undefined : await store.findSession(key);
  if (owner === undefined) return;
  throw new SessionConflict(
    `Session ${session} cannot be imported: its key "${key}" belongs to session ${owner.id}.`,
    { details: { session, key, owner: owner.id }, advice: `Prune session ${owner.id} first.` },
  );
}

/** The checkpoints of an export that an import would accept. Writes nothing. */
export async function verifyExport(file: string): Promise<CheckpointInfo[]> {
  try {
    const { checkpoints } = await unpack(await readPacked(file), file);
    return checkpoints.map(({ content: { phase, revision, createdAt }, sha256: seal }) => ({
      phase,
      revision,
      file,
      sha256: seal,
      createdAt: new Date(createdAt).toISOString(),
      valid: true,
      awaitingReview: false,
      problem: null,
    }));
  } catch (error) {
    if (!InputInvalid.is(error) && !CheckpointCorrupt.is(error)) throw error;
    throw new CheckpointCorrupt(`The export ${file} is damaged: ${error.message}`, {
      cause: error,
      details: { file },
      advice: exportAgain,
    });
  }
}

/** Exports are gzip files, checkpoints are plain JSON. */
export async function isPacked(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await handle.close();
  }
}

/** The artifacts that the session references, among all hashes in its checkpoints; of trees, also their files. */
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
    if (!content.startsWith("[")) continue;
    try {
      for (const { sha256: blob } of fromManifest(content).values()) wanted.add(blob);
    } catch {
      // A file that only begins like a manifest.
    }
  }
  return [...wanted].sort();
}

async function readPacked(file: string): Promise<Buffer> {
  try {
    const { size } = await stat(file);
    if (size <= maxFileBytes) return await readFile(file);
  } catch (cause) {
    throw new InputInvalid(`The file ${file} cannot be read.`, { advice: "Check the path.", cause });
  }
  throw new InputInvalid(`The file ${file} is larger than ${maxFileBytes} bytes.`);
}

async function unpack(packed: Buffer, file: string) {
  const { gunzip } = await import("node:zlib");
  let content: Json;
  try {
    const text = await promisify(gunzip)(packed, { maxOutputLength: maxUnpackedBytes });
    content = parseJson(text.toString(), { what: file, refuseProto: true, maxBytes: maxUnpackedBytes });
  } catch (cause) {
    throw notAnExport(file, "it cannot be unpacked", cause);
  }
  if (!isJsonObject(content) || content["kind"] !== kind) throw notAnExport(file, "it has another format");
  if (content["format"] !== format)
    throw new StateTooNew(`${file} has another format of export than this version of Maestro reads.`, {
      advice: "Import it with the version that exported it.",
    });
  const { session } = content;
  if (typeof session !== "string" || !isSessionId(session)) throw notAnExport(file, "it names no session");
  const checkpoints = textsAt(content, "checkpoints", file).map((text) => {
    const checkpoint = readCheckpoint(Buffer.from(text), file);
    if (checkpoint.content.sessionId !== session)
      throw notAnExport(file, "a checkpoint in it is of another session");
    return checkpoint;
  });
  if (checkpoints.length === 0) throw notAnExport(file, "it has no checkpoints");
  const init = checkpoints.find(({ content: { phase } }) => phase === initPhase)?.content.session;
  if (init === undefined) throw notAnExport(file, "the checkpoint of the session's start is missing");
  const names = new Set(checkpoints.map(({ content: { phase, revision } }) => `${phase} ${revision}`));
  if (names.size < checkpoints.length) throw notAnExport(file, "two of its checkpoints have one name");
  const { begun, created } = checkHistory(connected(checkpoints), exportAgain);
  for (const { definition } of [begun, created]) refuseUnknownTeam(definition, file);
  const contents = textsAt(content, "artifacts", file).map((text) => Buffer.from(text, "base64"));
  const hashes = new Set(contents.map((bytes) => sha256(bytes)));
  for (const { content: checkpoint } of checkpoints) {
    if (checkpoint.tree !== undefined && Array.isArray(checkpoint.files) && checkpoint.files.length > 0) {
      if (!hashes.has(checkpoint.tree))
        throw notAnExport(file, `files of phase ${checkpoint.phase} are missing`);
    }
  }
  return { session, key: init.key, checkpoints, contents };
}

function refuseUnknownTeam(definition: Json, file: string): void {
  try {
    recordedDefinition(definition);
  } catch (cause) {
    if (!JournalCorrupt.is(cause)) throw cause;
    throw notAnExport(file, "this version does not know the form of its team", cause);
  }
}

function textsAt(content: JsonObject, key: string, file: string): readonly string[] {
  const value = content[key];
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw notAnExport(file, `its ${key} are damaged`);
}

function notAnExport(file: string, why: string, cause?: unknown): InputInvalid {
  return new InputInvalid(`${file} is not an export of a session: ${why}.`, {
    advice: advise("Export one", "checkpoints", "export", "<session>", "<file>"),
    cause,
  });
}

/** The folder is the user's: it is not created. */
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
