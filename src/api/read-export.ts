import { readFile, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { advise } from "../domain/advice.ts";
import { type Attachment, checkAttachment } from "../domain/attachment.ts";
import { sha256 } from "../domain/canonical.ts";
import {
  ArtifactCorrupt,
  CheckpointCorrupt,
  InputInvalid,
  JournalCorrupt,
  StateTooNew,
} from "../domain/errors.ts";
import { isSessionId, type SessionId } from "../domain/ids.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../domain/json.ts";
import { baseHashOf, emptyTreeHash, fromManifest, type Tree } from "../domain/tree.ts";
import { type Checkpoint, checkpointFile, readCheckpoint } from "../journal/checkpoint.ts";
import { checkHistory } from "../journal/history.ts";
import { parseBody } from "../journal/journal-codec.ts";
import type { SessionState } from "../journal/session-state.ts";
import { largestArtifactBytes } from "../store/blobs.ts";
import type { CheckpointInfo } from "../store/list-checkpoints.ts";
import { connected } from "../store/restore.ts";
import { recordedFault } from "../team/definition/check-recorded.ts";
import { givenFilesOf } from "../team/definition/given-files-of.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";

/** One file with everything that a session needs to resume elsewhere: its checkpoints and the artifacts they name. */
export const exportKind = "maestro-checkpoints";
export const exportFormat = 1;

const exportAgain = advise(
  "Export it again from the state directory that has the session",
  "checkpoints",
  "export",
  "<session>",
  "<file>",
);
const maxFileBytes = 1024 * 1024 * 1024;
/** Checkpoints are texts within a text, so each of their quotes takes one more byte. */
const maxUnpackedBytes = 480 * 1024 * 1024;

/** A proved export: nothing in it contradicts anything else, and nothing is missing. */
export interface ReadExport {
  readonly session: SessionId;
  /** In the order of their seals, without gaps. */
  readonly checkpoints: readonly Checkpoint[];
  /** The state at the end of the checkpoints. */
  readonly state: SessionState;
  /** By their SHA-256. */
  readonly contents: ReadonlyMap<string, Buffer>;
  /** The size of the file. */
  readonly bytes: number;
}

/** Reads and proves an export. Writes nothing. */
export async function readExport(file: string): Promise<ReadExport> {
  const packed = await readPacked(file);
  const content = await unpack(packed, file);
  try {
    return { ...prove(content, file), bytes: packed.length };
  } catch (error) {
    if (!CheckpointCorrupt.is(error) && !ArtifactCorrupt.is(error)) throw error;
    const { message, details } = error;
    const why = message.replace(/\.$/, "");
    throw new CheckpointCorrupt(`The export ${file} is damaged: ${why}.`, {
      cause: error,
      details: { ...details, file },
      advice: exportAgain,
    });
  }
}

/** The session that the file claims to be an export of; undefined for any other file. Proves nothing else. */
export async function sessionOfExport(file: string): Promise<Json | undefined> {
  try {
    return (await unpack(await readPacked(file), file))["session"];
  } catch (error) {
    if (!InputInvalid.is(error) && !StateTooNew.is(error)) throw error;
    return undefined;
  }
}

/** The checkpoints of an export that an import would accept. */
export async function verifyExport(file: string): Promise<CheckpointInfo[]> {
  try {
    const { checkpoints } = await readExport(file);
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
    if (!InputInvalid.is(error)) throw error;
    throw new CheckpointCorrupt(`The export ${file} is damaged: ${error.message}`, {
      cause: error,
      details: { file },
      advice: exportAgain,
    });
  }
}

async function readPacked(file: string): Promise<Buffer> {
  try {
    const found = await stat(file);
    if (found.isFile() && found.size <= maxFileBytes) return await readFile(file);
    if (found.isFile()) throw new InputInvalid(`The file ${file} is larger than ${maxFileBytes} bytes.`);
  } catch (cause) {
    if (InputInvalid.is(cause)) throw cause;
    throw new InputInvalid(`The file ${file} cannot be read.`, { advice: "Check the path.", cause });
  }
  throw new InputInvalid(`${file} is not a file.`, { advice: "Check the path." });
}

async function unpack(packed: Buffer, file: string): Promise<JsonObject> {
  const { gunzip } = await import("node:zlib");
  let text: Buffer;
  let content: Json;
  try {
    text = await promisify(gunzip)(packed, { maxOutputLength: maxUnpackedBytes });
    content = parseJson(text, { what: file, refuseProto: true, maxBytes: maxUnpackedBytes });
  } catch (cause) {
    throw notAnExport(file, "it cannot be unpacked", cause);
  }
  if (!isJsonObject(content) || content["kind"] !== exportKind)
    throw notAnExport(file, "it has another format");
  if (content["format"] !== exportFormat)
    throw new StateTooNew(`${file} has another format of export than this version of Maestro reads.`, {
      advice: "Import it with the version that exported it.",
    });
  const { kind, format, session, checkpoints, artifacts } = content;
  // Refuse repeated and unknown keys, so that every reader sees the same content.
  if (
    Buffer.compare(Buffer.from(JSON.stringify({ kind, format, session, checkpoints, artifacts })), text) !== 0
  )
    throw notAnExport(file, "it is not in the one form that exports have");
  return content;
}

function prove(content: JsonObject, file: string): Omit<ReadExport, "bytes"> {
  const { session } = content;
  if (typeof session !== "string" || !isSessionId(session)) throw notAnExport(file, "it names no session");
  const texts = textsAt(content, "checkpoints", file);
  const all = texts.map((text, index) => {
    const checkpoint = readCheckpoint(text, `checkpoint ${index + 1} of ${texts.length}`);
    if (checkpoint.content.sessionId !== session)
      throw notAnExport(file, "a checkpoint in it is of another session");
    return checkpoint;
  });
  const names = new Set(all.map(({ content: { phase, revision } }) => checkpointFile(phase, revision)));
  if (names.size < all.length) throw notAnExport(file, "two of its checkpoints have one name");
  const checkpoints = connected(all);
  if (checkpoints.length === 0) throw notAnExport(file, "the checkpoint of the session's start is missing");
  const apart = all.find((checkpoint) => !checkpoints.includes(checkpoint))?.content;
  if (apart !== undefined)
    throw notAnExport(file, `a checkpoint before ${checkpointFile(apart.phase, apart.revision)} is missing`);
  const state = checkHistory(checkpoints, exportAgain);
  const { key } = state.begun;
  if (key !== undefined && isSessionId(key)) throw notAnExport(file, "its key reads as the id of a session");
  refuseUnknownTeams(checkpoints, file);
  const contents = contentsOf(content, texts, checkpoints, file);
  refuseMissingFiles(checkpoints, contents, file);
  return { session, checkpoints, state, contents };
}

/** The skills and texts of every team that the session has had. */
function refuseMissingFiles(
  checkpoints: readonly Checkpoint[],
  contents: ReadonlyMap<string, Buffer>,
  file: string,
): void {
  for (const { definition } of recordedTeams(checkpoints))
    for (const { path, sha256: hash, bytes } of givenFilesOf(recordedDefinition(definition)))
      if (contents.get(hash)?.length !== bytes)
        throw notAnExport(file, `the file ${JSON.stringify(path)} of its team is missing`);
}

/** Every team that the session has had. */
function recordedTeams(checkpoints: readonly Checkpoint[]): readonly RecordedTeam[] {
  const changes = checkpoints.flatMap(({ content: { rows } }) =>
    rows.flatMap(({ kind, body }) => (kind === "team.changed" ? [parseBody(body)] : [])),
  );
  return [checkpoints[0]?.content.session, ...changes] as unknown as readonly RecordedTeam[];
}

function refuseUnknownTeams(checkpoints: readonly Checkpoint[], file: string): void {
  for (const recorded of recordedTeams(checkpoints)) {
    const fault = teamFault(recorded);
    if (fault !== undefined) throw notAnExport(file, `its team is not one of this version: ${fault}`);
  }
  const created = checkpoints[0]?.content.session;
  const { name } = (created?.definition ?? {}) as JsonObject;
  if (name !== created?.team) throw notAnExport(file, "its team has another name than its session says");
}

interface RecordedTeam {
  readonly definition: Json;
  readonly teamFingerprint: string;
}

function teamFault({ definition, teamFingerprint }: RecordedTeam): string | undefined {
  try {
    return recordedFault(definition, teamFingerprint);
  } catch (error) {
    if (!JournalCorrupt.is(error)) throw error;
    return error.message.replace(/\.$/, "");
  }
}

/** Exactly the files of the session, each with the bytes that its hash names. */
function contentsOf(
  content: JsonObject,
  texts: readonly string[],
  checkpoints: readonly Checkpoint[],
  file: string,
): ReadonlyMap<string, Buffer> {
  const packed = textsAt(content, "artifacts", file);
  const contents = new Map<string, Buffer>();
  for (const text of packed) {
    const bytes = Buffer.from(text, "base64");
    if (bytes.toString("base64") !== text) throw notAnExport(file, "an artifact in it is not base64");
    if (bytes.length > largestArtifactBytes)
      throw notAnExport(file, `an artifact in it is larger than ${largestArtifactBytes} bytes`);
    contents.set(sha256(bytes), bytes);
  }
  if (contents.size < packed.length) throw notAnExport(file, "it has an artifact twice");
  const named = new Set(texts.flatMap((text) => text.match(hashForm) ?? []));
  for (const hash of treesIn(checkpoints)) {
    for (const [path, { sha256: blob, bytes }] of treeAt(hash, contents, file)) {
      if (contents.get(blob)?.length !== bytes)
        throw notAnExport(file, `the file ${JSON.stringify(path)} of tree ${hash.slice(0, 12)} is missing`);
      named.add(blob);
    }
  }
  for (const { name, mediaType, sha256: hash, bytes } of attachmentsIn(checkpoints)) {
    const found = contents.get(hash);
    if (found?.length !== bytes || !isAttachment(name, mediaType, found))
      throw notAnExport(file, `the attachment ${JSON.stringify(name)} is missing or not what its row says`);
  }
  for (const hash of contents.keys())
    if (!named.has(hash)) throw notAnExport(file, `nothing in it names the artifact ${hash.slice(0, 12)}`);
  return contents;
}

const hashForm = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g;

function treeAt(hash: string, contents: ReadonlyMap<string, Buffer>, file: string): Tree {
  const manifest = contents.get(hash);
  if (manifest === undefined)
    throw notAnExport(file, `the list of files ${hash.slice(0, 12)}, which its rows name, is missing`);
  const text = manifest.toString();
  const base = baseHashOf(text);
  return base === undefined ? fromManifest(text) : fromManifest(text, treeAt(base, contents, file));
}

/** The hash of every list of files that a row names. */
function treesIn(checkpoints: readonly Checkpoint[]): ReadonlySet<string> {
  const found = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      if ((key === "tree" || key === "base") && typeof member === "string") found.add(member);
      // Content of people and models: its keys mean nothing to Maestro.
      else if (!ofPeople.has(key)) collect(member);
    }
  };
  for (const { content } of checkpoints) {
    collect(content.session);
    for (const { body } of content.rows) collect(parseBody(body));
  }
  found.delete(emptyTreeHash);
  return found;
}

const attachmentsIn = (checkpoints: readonly Checkpoint[]): readonly Attachment[] =>
  checkpoints.flatMap(({ content }) => content.session?.attachments ?? []);

/** The name appears unchanged in a persona's prompt. */
function isAttachment(name: string, mediaType: Attachment["mediaType"], content: Buffer): boolean {
  try {
    return checkAttachment(name, content) === mediaType;
  } catch (error) {
    if (!InputInvalid.is(error)) throw error;
    return false;
  }
}

const ofPeople = new Set(["definition", "outputs", "details", "failure", "error", "failures"]);

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
