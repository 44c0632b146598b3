import { fingerprint } from "../domain/canonical.ts";
import { ArtifactCorrupt, CheckpointCorrupt, StateTooNew } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Json } from "../domain/json.ts";
import { emptyTree, emptyTreeHash, fromManifest, type Tree } from "../domain/tree.ts";
import type { Artifacts } from "./artifacts.ts";
import { type Checkpoint, type CheckpointContent, initPhase } from "./checkpoint.ts";
import { type FoundCheckpoint, SessionFiles } from "./session-files.ts";
import type { LostSession } from "./store.ts";

export interface RestoredSession extends Omit<LostSession, "artifacts"> {
  /** Files of checkpoints that it does not go on from, with the reason. */
  readonly unused: readonly string[];
}

/** Only for a session the database does not know. The unfinished phase is run again; everything sealed is kept. */
export async function readLostSession(stateDirectory: string, id: SessionId): Promise<RestoredSession> {
  const found = await new SessionFiles(stateDirectory, id).findCheckpoints();
  // What a newer version wrote is neither read nor passed over: going on would write over it.
  const tooNew = found.find(({ error }) => StateTooNew.is(error))?.error;
  if (tooNew !== undefined) throw tooNew;
  const checkpoints = selectValid(found);
  const [init, newest] = [checkpoints[0], checkpoints.at(-1)];
  if (init?.content.session === undefined || newest === undefined) {
    const problems = found.flatMap(({ error }) => error?.message ?? []);
    throw new CheckpointCorrupt(
      `Session ${id} is not in the database and has no valid checkpoint to go on from.`,
      {
        details: { session: id, problems },
        advice: `Restore sessions/${id} or maestro.db from a backup.`,
      },
    );
  }
  const { key, team, brief } = init.content.session;
  // The newest knows which team was accepted last.
  const { teamFingerprint } = newest.content;
  const unused = found
    .filter(({ checkpoint }) => checkpoint === undefined || !checkpoints.includes(checkpoint))
    .map(
      ({ file, error }) => `${file} (${error === undefined ? "what it rests on is not there" : "damaged"})`,
    );
  return {
    unused,
    session: {
      id,
      key,
      team,
      teamFingerprint,
      identity: identityOf(team, brief),
      status: "paused",
      reason: undefined,
      createdAt: init.content.createdAt,
    },
    usage: newest.content.usage ?? [],
    restored: {
      kind: "session.restored",
      head: newest.content.journal,
      checkpoints: checkpoints.map(({ content, sha256 }) => ({ ...content, sha256 }) as unknown as Json),
    },
  };
}

/** Everything the checkpoints point to, for retention to keep; what is missing is noticed when somebody needs it. */
export async function artifactsOf(
  { restored }: Pick<RestoredSession, "restored">,
  artifacts: Artifacts,
): Promise<string[]> {
  const manifests = new Set<string>();
  for (const checkpoint of restored.checkpoints) {
    const {
      base,
      tree,
      edit = {},
      given,
      personas = {},
      session,
    } = checkpoint as unknown as CheckpointContent;
    const { edited = [], words = [] } = session?.fork ?? {};
    const brought = [...(session?.given ?? []), ...edited, ...words.flatMap((word) => word.edit ?? [])];
    for (const files of [{ base, tree }, edit, given ?? {}, ...Object.values(personas), ...brought])
      for (const hash of [files.base, files.tree])
        if (hash !== undefined && hash !== emptyTreeHash) manifests.add(hash);
  }
  const kept = new Set(manifests);
  for (const manifest of manifests) {
    for (const { sha256 } of (await readManifest(manifest, artifacts)).values()) kept.add(sha256);
  }
  return [...kept];
}

async function readManifest(hash: string, artifacts: Artifacts): Promise<Tree> {
  try {
    return fromManifest((await artifacts.get(hash)).toString());
  } catch (error) {
    if (ArtifactCorrupt.is(error)) return emptyTree;
    throw error;
  }
}

/** What a session is about; the same key must mean the same identity. */
export function identityOf(team: string, brief: string): string {
  return fingerprint([team, brief]);
}

/**
 * The start and every checkpoint that rests, link by link, on valid ones; the last is the newest valid one. Also those of
 * earlier revisions: the later ones say that these no longer count.
 */
function selectValid(found: readonly FoundCheckpoint[]): Checkpoint[] {
  const whole = found.flatMap(({ checkpoint }) => checkpoint ?? []);
  const init = whole.find(({ content }) => content.phase === initPhase);
  if (init === undefined) return [];
  const chosen = [init];
  const sealed = new Set([init.sha256]);
  for (const checkpoint of whole) {
    const { phase, predecessors, source } = checkpoint.content;
    const isLinked = predecessors.length > 0 && predecessors.every(({ sha256 }) => sealed.has(sha256));
    // What came from outside was there from the start, whatever has been made before it since.
    if (phase === initPhase || !(isLinked || source?.kind === "given")) continue;
    chosen.push(checkpoint);
    sealed.add(checkpoint.sha256);
  }
  return chosen;
}
