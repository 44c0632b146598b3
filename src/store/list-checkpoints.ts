import { setTimeout as sleep } from "node:timers/promises";
import { CheckpointCorrupt, InputInvalid } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { type Checkpoint, checkpointFile, initPhase, readCheckpoint } from "../journal/checkpoint.ts";
import { sealedLimitBytes } from "../journal/seal.ts";
import type { Sealed, SessionState } from "../journal/session-state.ts";
import { readBounded } from "./durable-file.ts";
import { projectStart } from "./seal-phase.ts";
import { type FoundCheckpoint, SessionFiles } from "./session-files.ts";
import type { Store } from "./store.ts";

export interface CheckpointInfo {
  readonly phase: string;
  readonly revision: number;
  readonly file: string;
  readonly sha256: string | null;
  readonly createdAt: string | null;
  readonly valid: boolean;
  readonly awaitingReview: boolean;
  readonly problem: string | null;
}

/** Checkpoints on disk, verified by their seals alone. For a session with an unreadable journal. */
export async function listCheckpointFiles(stateDirectory: string, id: SessionId): Promise<CheckpointInfo[]> {
  return (await new SessionFiles(stateDirectory, id).findCheckpoints()).map(infoOf);
}

/** Verified checkpoints on disk, and those that the journal has but the disk lacks. */
export async function listCheckpoints(
  stateDirectory: string,
  state: SessionState,
  store: Store,
): Promise<CheckpointInfo[]> {
  const { found, missing } = await compareWhenWritten(stateDirectory, state, store);
  return [
    ...found.map((each) => ({
      ...infoOf(each),
      ...(each.isStranger && notTheOne),
      awaitingReview: awaits(state, each),
    })),
    ...missing.map((sealed) => ({
      phase: sealed.phase,
      revision: sealed.revision,
      file: sealed.file,
      sha256: sealed.sha256,
      createdAt: isoTime(sealed.at),
      valid: false,
      awaitingReview: awaits(state, sealed),
      problem: "the file is missing",
    })),
  ];
}

/** Allows for a file that is written while its disk is busy. */
const writtenWithinMs = 10_000;
const lookAgainMs = 50;

/** The row of a seal commits before its file is written, so a missing file may still be in progress. */
async function compareWhenWritten(stateDirectory: string, state: SessionState, store: Store) {
  const deadline = performance.now() + writtenWithinMs;
  for (;;) {
    const compared = await compareWithJournal(stateDirectory, state, store);
    if (compared.missing.length === 0 || performance.now() > deadline) return compared;
    if (!(await mayBeWriting(state.id, store))) return compared;
    await sleep(lookAgainMs);
  }
}

/** A live driver writes files, and so does the process that creates a session, which has no lease yet. */
async function mayBeWriting(id: SessionId, store: Store): Promise<boolean> {
  const session = await store.findSession(id);
  if (session?.status === "queued") return Date.now() - session.createdAt < writtenWithinMs;
  return session?.status === "running" && !(await store.reports.abandoned()).includes(id);
}

function awaits(
  { phases }: SessionState,
  { phase, revision }: { readonly phase: string; readonly revision: number },
): boolean {
  const { checkpoint, review } = phases.get(phase) ?? {};
  return review === "awaiting" && checkpoint?.revision === revision;
}

const notTheOne = { valid: false, problem: "it is not the one the journal knows" };

/** The checkpoint of the creation has no row of its own. */
async function sealOfInit(state: SessionState, store: Store): Promise<Sealed> {
  const { seq, hash, at, transitions } = state.createdHead;
  const { sha256 } = await projectStart(state, store);
  return { phase: initPhase, revision: 1, sha256, head: { seq, hash }, transitions, after: 0, at };
}

/** Each file with the journal's knowledge of it, and the checkpoints that have no file. */
export async function compareWithJournal(stateDirectory: string, state: SessionState, store: Store) {
  const found = await new SessionFiles(stateDirectory, state.id).findCheckpoints();
  const sealed = new Map(
    [await sealOfInit(state, store), ...state.seals.values()].map((one) => [
      checkpointFile(one.phase, one.revision),
      { ...one, file: checkpointFile(one.phase, one.revision) },
    ]),
  );
  const there = new Set(found.map(({ file }) => file));
  return {
    found: found.map((each) => {
      const known = sealed.get(each.file);
      const isStranger =
        each.checkpoint !== undefined && known !== undefined && !isSealedAs(each.checkpoint, known);
      return { ...each, known, isStranger };
    }),
    missing: [...sealed.values()].filter(({ file }) => !there.has(file)),
  };
}

/**
 * Compares the head too: if a seal's head was changed together with its rows, the file's hash alone would still
 * match.
 */
function isSealedAs({ sha256, content: { journal } }: Checkpoint, { phase, head, ...seal }: Sealed): boolean {
  const isSameHead = phase === initPhase || (journal.seq === head.seq && journal.hash === head.hash);
  return sha256 === seal.sha256 && isSameHead;
}

/** True if a resume would not rewrite any checkpoint. */
export async function areCheckpointsWhole(
  stateDirectory: string,
  state: SessionState,
  store: Store,
): Promise<boolean> {
  const { found, missing } = await compareWithJournal(stateDirectory, state, store);
  const isWhole = ({ known, checkpoint }: (typeof found)[number]) =>
    known === undefined || known.sha256 === checkpoint?.sha256;
  return missing.length === 0 && found.every(isWhole);
}

function infoOf({ file, phase, revision, checkpoint, error }: FoundCheckpoint): CheckpointInfo {
  return {
    phase,
    revision,
    file,
    sha256: checkpoint?.sha256 ?? null,
    createdAt: isoTime(checkpoint?.content.createdAt),
    valid: checkpoint !== undefined,
    awaitingReview: false,
    problem: error?.message ?? null,
  };
}

/** Verifies one file on its own against its seal. */
export async function verifyCheckpointFile(file: string): Promise<CheckpointInfo> {
  const bytes = await readBounded(file, sealedLimitBytes);
  if (bytes === undefined) throw new InputInvalid(`There is no file ${file}.`, { details: { file } });
  try {
    const { content, sha256 } = readCheckpoint(bytes, file);
    const { phase, revision, createdAt } = content;
    return {
      phase,
      revision,
      file,
      sha256,
      createdAt: isoTime(createdAt),
      valid: true,
      awaitingReview: false,
      problem: null,
    };
  } catch (error) {
    if (!CheckpointCorrupt.is(error)) throw error;
    const unknown = { phase: "?", revision: 1, sha256: null, createdAt: null };
    return {
      ...unknown,
      file,
      valid: false,
      awaitingReview: false,
      problem: error.message,
    };
  }
}

function isoTime(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
