import { CheckpointCorrupt, InputInvalid } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { sealedLimitBytes } from "../domain/seal.ts";
import type { SessionState } from "../domain/session-state.ts";
import { checkpointFile, readCheckpoint } from "./checkpoint.ts";
import { readBounded } from "./durable-file.ts";
import { SessionFiles } from "./session-files.ts";

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

/** What is on disk, verified by its seals alone: of a session whose journal cannot be read. */
export function listCheckpointFiles(stateDirectory: string, id: SessionId): Promise<CheckpointInfo[]> {
  return listCheckpoints(stateDirectory, { id, phases: new Map() });
}

/** What is on disk, verified, and what the journal says should be. */
export async function listCheckpoints(
  stateDirectory: string,
  state: Pick<SessionState, "id" | "phases">,
): Promise<CheckpointInfo[]> {
  const listed = (await new SessionFiles(stateDirectory, state.id).findCheckpoints()).map(
    ({ file, phase, revision, checkpoint, error }): CheckpointInfo => {
      const { checkpoint: sealed, review } = state.phases.get(phase) ?? {};
      const stranger =
        checkpoint !== undefined &&
        sealed !== undefined &&
        sealed.revision === revision &&
        sealed.sha256 !== checkpoint.sha256;
      return {
        phase,
        revision,
        file,
        sha256: checkpoint?.sha256 ?? null,
        createdAt: isoTime(checkpoint?.content.createdAt),
        valid: checkpoint !== undefined && !stranger,
        awaitingReview: sealed?.revision === revision && review === "awaiting",
        problem: error?.message ?? (stranger ? "it is not the one the journal knows" : null),
      };
    },
  );
  for (const [phase, { checkpoint: sealed, completed, review }] of state.phases) {
    if (
      sealed === undefined ||
      listed.some((info) => info.phase === phase && info.revision === sealed.revision)
    )
      continue;
    const missing = {
      file: checkpointFile(phase, sealed.revision),
      createdAt: isoTime(completed?.at),
      valid: false,
      awaitingReview: review === "awaiting",
    };
    listed.push({ phase, ...sealed, ...missing, problem: "the file is missing" });
  }
  return listed;
}

/** One file on its own: is it exactly what was sealed? */
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
