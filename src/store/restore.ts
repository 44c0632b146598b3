import { fingerprint } from "../domain/canonical.ts";
import { ArtifactCorrupt, CheckpointCorrupt, StateTooNew } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { fromManifest, type Tree } from "../domain/tree.ts";
import { type Checkpoint, initPhase } from "../journal/checkpoint.ts";
import { checkHistory } from "../journal/history.ts";
import { copiedEpoch, type Transition } from "../journal/journal.ts";
import { transitionRow } from "../journal/journal-codec.ts";
import type { Blobs } from "./blobs.ts";
import { SessionFiles } from "./session-files.ts";
import type { CopiedRow, NewSession } from "./store.ts";

export interface RestoredSession {
  readonly session: NewSession;
  /** Checkpoint files that it does not use, with the reason. */
  readonly unused: readonly string[];
}

/**
 * A session that the database does not know, as rows: those of its checkpoints, with their seq, and one that says where
 * they come from. Sealed phases keep their results; the unfinished phase runs again.
 */
export async function readLostSession(stateDirectory: string, id: SessionId): Promise<RestoredSession> {
  const found = await new SessionFiles(stateDirectory, id).findCheckpoints();
  // Another version's file is neither read nor ignored: resuming would write over it.
  const foreign = found.find(({ error }) => StateTooNew.is(error))?.error;
  if (foreign !== undefined) throw foreign;
  const checkpoints = connected(found.flatMap(({ checkpoint }) => checkpoint ?? []));
  const [init, newest] = [checkpoints[0], checkpoints.at(-1)];
  if (init === undefined || newest === undefined) {
    const problems = found.flatMap(({ error }) => error?.message ?? []);
    throw new CheckpointCorrupt(
      `Session ${id} is not in the database and has no valid checkpoint to resume from.`,
      {
        details: { session: id, problems },
        advice: `Restore sessions/${id} or maestro.db from a backup.`,
      },
    );
  }
  checkHistory(checkpoints, `Restore sessions/${id} or maestro.db from a backup.`);
  const unused = found
    .filter(({ checkpoint }) => checkpoint === undefined || !checkpoints.includes(checkpoint))
    .map(
      ({ file, error }) =>
        `${file} (${error === undefined ? "a checkpoint before it is missing" : "damaged"})`,
    );
  return { session: rowsOf(id, init, checkpoints), unused };
}

/** Checkpoints that together tell the history from the start on without a gap, in order. */
export function connected(found: readonly Checkpoint[]): Checkpoint[] {
  const init = found.find(({ content }) => content.phase === initPhase && content.session !== undefined);
  if (init === undefined) return [];
  const chosen = [init];
  const next = () => chosen.at(-1)?.content.journal.seq;
  for (let checkpoint: Checkpoint | undefined = init; checkpoint !== undefined; ) {
    checkpoint = found.find(({ content }) => content.phase !== initPhase && content.after === next());
    if (checkpoint !== undefined) chosen.push(checkpoint);
  }
  return chosen;
}

function rowsOf(id: SessionId, init: Checkpoint, checkpoints: readonly Checkpoint[]): NewSession {
  const { session, createdAt } = init.content;
  if (session === undefined) throw new Error(`checkpoint init of ${id} has no session`);
  const created = { kind: "session.created", ...session } as const;
  const newest = checkpoints.at(-1) ?? init;
  const copied: CopiedRow[] = checkpoints.flatMap(({ content }) =>
    content.rows.map(({ seq, at, kind, body }) => ({
      ...transitionRow(kind as Transition["kind"], body),
      seq,
      at,
      epoch: copiedEpoch,
    })),
  );
  return {
    id,
    ...(session.key !== undefined && { key: session.key }),
    team: session.team,
    // The newest knows which team was accepted last.
    teamFingerprint: newest.content.teamFingerprint,
    identity: identityOf(session.team, session.brief),
    createdAt,
    created,
    copied,
    appended: [
      ...(newest === init ? [] : [sealOf(newest)]),
      { kind: "session.restored", head: newest.content.journal },
    ],
    usage: newest.content.usage ?? [],
  };
}

/** The row of the newest checkpoint is in none: the file follows the row, and so is not in the file. */
function sealOf({ content, sha256 }: Checkpoint): Transition {
  const { phase, revision, journal: head, steps, transitions, usage = [] } = content;
  const used = usage.length > 0 ? { usage } : {};
  return { kind: "checkpoint.sealed", phase, revision, sha256, head, transitions, steps, ...used };
}

/** Every artifact that the rows name, and the files of every tree among them, for retention to keep. */
export async function artifactsOf(
  { created, copied = [] }: Pick<NewSession, "created" | "copied">,
  artifacts: Blobs,
): Promise<string[]> {
  const named = new Set(
    [JSON.stringify(created), ...copied.map(({ body }) => body)].flatMap(
      (text) => text.match(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g) ?? [],
    ),
  );
  const kept = new Set<string>();
  for (const hash of named) {
    const content = await readOrNothing(hash, artifacts);
    if (content === undefined) continue;
    kept.add(hash);
    for (const { sha256 } of manifestOf(content)?.values() ?? []) kept.add(sha256);
  }
  return [...kept];
}

/** Undefined for a hash that names no artifact, such as that of a seal, and for a damaged one. */
async function readOrNothing(hash: string, artifacts: Blobs): Promise<string | undefined> {
  try {
    return (await artifacts.get(hash)).toString();
  } catch (error) {
    if (ArtifactCorrupt.is(error)) return undefined;
    throw error;
  }
}

/** Undefined for a file that is no manifest, whatever it begins with. */
function manifestOf(content: string): Tree | undefined {
  if (!content.startsWith("[")) return undefined;
  try {
    return fromManifest(content);
  } catch {
    return undefined;
  }
}

/** Team and brief of a session; the same key must mean the same identity. */
export function identityOf(team: string, brief: string): string {
  return fingerprint([team, brief]);
}
