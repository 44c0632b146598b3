import { fingerprint } from "../domain/canonical.ts";
import { ArtifactCorrupt, CheckpointCorrupt, StateTooNew } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { hashesIn } from "../domain/tree.ts";
import { type Checkpoint, type CheckpointRow, initPhase } from "../journal/checkpoint.ts";
import { checkHistory } from "../journal/history.ts";
import { copiedEpoch, type SessionTerms, type Transition } from "../journal/journal.ts";
import { transitionRow } from "../journal/journal-codec.ts";
import { isAllAccepted } from "../journal/planned.ts";
import type { SessionState } from "../journal/session-state.ts";
import type { Blobs } from "./blobs.ts";
import { type ImportMark, SessionFiles } from "./session-files.ts";
import type { CopiedRow, NewSession } from "./store.ts";

export interface RestoredSession {
  readonly session: NewSession;
  /** Checkpoint files that are not used, with the reason. */
  readonly unused: readonly string[];
}

/**
 * A lost session as rows: those of its checkpoints, with their seq, and one that records their origin. Sealed
 * phases keep their results, and the unfinished phase runs again.
 */
export async function readLostSession(stateDirectory: string, id: SessionId): Promise<RestoredSession> {
  const found = await new SessionFiles(stateDirectory, id).findCheckpoints();
  // A file of another version is neither read nor ignored, because a resume would overwrite it.
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
  const state = checkHistory(checkpoints, `Restore sessions/${id} or maestro.db from a backup.`);
  const unused = found
    .filter(({ checkpoint }) => checkpoint === undefined || !checkpoints.includes(checkpoint))
    .map(
      ({ file, error }) =>
        `${file} (${error === undefined ? "a checkpoint before it is missing" : "damaged"})`,
    );
  const imported = await new SessionFiles(stateDirectory, id).readImport();
  return { session: restoredSession(state, checkpoints, imported), unused };
}

/** The checkpoints that together form a history from the start without gaps, in order. */
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

/**
 * The session in these checkpoints, with the state that their rows produce. `imported`: they come from an export.
 * `demands`: shown to the person who trusted it.
 */
export function restoredSession(
  state: SessionState,
  checkpoints: readonly Checkpoint[],
  imported?: ImportMark & { readonly demands?: readonly string[] },
): NewSession {
  const { id } = state;
  const [init, newest] = [checkpoints[0], checkpoints.at(-1)];
  if (init?.content.session === undefined || newest === undefined)
    throw new Error(`checkpoint init of ${id} has no session`);
  const { session, createdAt } = init.content;
  const created = { kind: "session.created", ...session } as const;
  const copied = checkpoints.flatMap(({ content }) => content.rows.map(copiedRow));
  return {
    id,
    ...(session.key !== undefined && { key: session.key }),
    team: session.team,
    // The newest checkpoint has the last accepted team.
    teamFingerprint: newest.content.teamFingerprint,
    identity: identityOf(session),
    createdAt,
    created,
    copied,
    appended: [
      ...endRows(state, newest, imported !== undefined),
      ...(imported?.trusted ? [{ kind: "session.trusted", demands: imported.demands ?? [] } as const] : []),
    ],
    usage: newest.content.usage ?? [],
    // A stranger's numbers must not use up the day of every other session.
    isClaimed: imported?.trusted === false,
  };
}

/** The rows after the newest checkpoint: its seal, and one that records the origin. */
export function endRows(state: SessionState, newest: Checkpoint, isImport = false): readonly Transition[] {
  const { phase, journal: head } = newest.content;
  return [
    ...(phase === initPhase ? [] : [sealOf(newest)]),
    {
      kind: "session.restored",
      head,
      ...(isAllAccepted(state) && { completed: true }),
      ...(isImport && { imported: true }),
    },
  ];
}

export const copiedRow = ({ seq, at, kind, body }: CheckpointRow): CopiedRow => ({
  ...transitionRow(kind as Transition["kind"], body),
  seq,
  at,
  epoch: copiedEpoch,
});

/** No checkpoint contains the row of the newest seal, because the file is written after that row. */
function sealOf({ content, sha256 }: Checkpoint): Transition {
  const { phase, revision, journal: head, steps, transitions, usage = [] } = content;
  const used = usage.length > 0 ? { usage } : {};
  return { kind: "checkpoint.sealed", phase, revision, sha256, head, transitions, steps, ...used };
}

/** Every artifact that the rows name, and the files of every tree among them, for retention to keep. */
export async function artifactsOf(
  { created, copied = [] }: Partial<Pick<NewSession, "created" | "copied">>,
  artifacts: Blobs,
): Promise<string[]> {
  const named = new Set(
    [JSON.stringify(created ?? null), ...copied.map(({ body }) => body)].flatMap(
      (text) => text.match(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g) ?? [],
    ),
  );
  const kept = new Set<string>();
  for (const hash of named) {
    const content = await readOrNothing(hash, artifacts);
    if (content === undefined) continue;
    kept.add(hash);
    for (const named of hashesIn(content) ?? []) kept.add(named);
  }
  return [...kept];
}

/** Undefined for a damaged artifact, and for a hash that names none, such as that of a seal. */
async function readOrNothing(hash: string, artifacts: Blobs): Promise<string | undefined> {
  try {
    return (await artifacts.get(hash)).toString();
  } catch (error) {
    if (ArtifactCorrupt.is(error)) return undefined;
    throw error;
  }
}

/** Fingerprint of a session's team, brief, attachments and files. A key always has the same identity. */
export function identityOf({
  team,
  brief,
  attachments = [],
  source,
}: Pick<SessionTerms, "team" | "brief" | "attachments" | "source">): string {
  const files = attachments.map(({ name, sha256 }) => [name, sha256]);
  return fingerprint([
    team,
    brief,
    ...(source === undefined ? [] : [source.commit ?? "upload", source.tree]),
    ...(files.length === 0 ? [] : [files]),
  ]);
}
