import type { SessionState } from "../domain/session-state.ts";
import { checkpointFile } from "./checkpoint.ts";
import { SessionFiles } from "./session-files.ts";

export interface CheckpointInfo {
  readonly phase: string;
  readonly revision: number;
  readonly file: string;
  readonly sha256: string | null;
  readonly createdAt: number | null;
  readonly valid: boolean;
  readonly awaitingReview: boolean;
  readonly problem: string | null;
}

/** What is on disk, verified, and what the journal says should be. */
export async function listCheckpoints(
  stateDirectory: string,
  state: SessionState,
): Promise<CheckpointInfo[]> {
  const listed = (await new SessionFiles(stateDirectory, state.id).findCheckpoints()).map(
    ({ file, phase, revision, checkpoint, problem }): CheckpointInfo => {
      const sealed = state.phases.get(phase)?.checkpoint;
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
        createdAt: checkpoint?.content.createdAt ?? null,
        valid: checkpoint !== undefined && !stranger,
        awaitingReview: false,
        problem: problem ?? (stranger ? "it is not the one the journal knows" : null),
      };
    },
  );
  for (const [phase, { checkpoint: sealed, completed }] of state.phases) {
    if (
      sealed === undefined ||
      listed.some((info) => info.phase === phase && info.revision === sealed.revision)
    )
      continue;
    const missing = {
      file: checkpointFile(phase, sealed.revision),
      createdAt: completed?.at ?? null,
      valid: false,
      awaitingReview: false,
    };
    listed.push({ phase, ...sealed, ...missing, problem: "the file is missing" });
  }
  return listed;
}
