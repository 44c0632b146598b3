import { ArtifactCorrupt } from "../domain/errors.ts";
import { applyRecorded } from "../domain/fold.ts";
import type { RecordedRow } from "../domain/journal.ts";
import { decodeTransition } from "../domain/journal-codec.ts";
import { type Json, parseJson } from "../domain/json.ts";
import { plannedPhases } from "../domain/planned.ts";
import { emptyState, type Sealed, type SessionState } from "../domain/session-state.ts";
import { emptyTreeHash } from "../domain/tree.ts";
import type { Artifacts } from "./artifacts.ts";
import {
  type Checkpoint,
  type CheckpointContent,
  initPhase,
  type Predecessor,
  projectInit,
  projectPhase,
  sealCheckpoint,
} from "./checkpoint.ts";
import type { Store } from "./store.ts";

export interface ProjectParts {
  readonly store: Store;
  readonly artifacts: Artifacts;
}

/**
 * Checkpoints as they were sealed, whatever has come since: the journal is read up to the row of each. One that an older
 * version sealed in another way is not among them.
 */
export async function projectAgain<One extends Sealed>(
  id: SessionState["id"],
  wanted: readonly One[],
  { store, artifacts }: ProjectParts,
): Promise<ReadonlyMap<One, Checkpoint>> {
  if (wanted.length === 0) return new Map();
  // The start is known from the first row, also where the rows before that one are gone.
  const byRow = Map.groupBy(wanted, ({ phase, seq }) => (phase === initPhase ? 0 : seq));
  const projected = new Map<One, Checkpoint>();
  const state = emptyState(id);
  for await (const page of store.readJournal(id)) {
    for (const row of page) {
      applyRecorded(state, row);
      for (const place of [0, row.seq]) {
        for (const sealed of byRow.get(place) ?? []) {
          const checkpoint = restored(row, sealed) ?? (await project(state, sealed, artifacts));
          if (checkpoint?.sha256 === sealed.sha256) projected.set(sealed, checkpoint);
        }
        byRow.delete(place);
      }
      if (byRow.size === 0) return projected;
    }
  }
  return projected;
}

/** Undefined when the list of its files is damaged as well. */
async function project(
  state: SessionState,
  { phase }: Sealed,
  artifacts: Artifacts,
): Promise<Checkpoint | undefined> {
  if (phase === initPhase) return projectInit(state);
  try {
    return projectPhase(state, phase, await partsOf(state, phase, artifacts));
  } catch (error) {
    if (ArtifactCorrupt.is(error)) return undefined;
    throw error;
  }
}

/** What else the checkpoint of a phase says, as things are now. */
export async function partsOf(state: SessionState, phase: string, artifacts: Artifacts) {
  const { tree, usage = [] } = state.phases.get(phase) ?? {};
  const files = await manifestOf(artifacts, tree);
  return { predecessors: predecessorsOf(state, phase), files, usage };
}

/** A session that came back from its checkpoints has them on record. */
function restored(row: RecordedRow, { phase, revision }: Sealed): Checkpoint | undefined {
  if (row.kind !== "session.restored") return undefined;
  const entry = decodeTransition(row);
  const contents = entry.kind === "session.restored" ? entry.checkpoints : [];
  const found = (contents as unknown as (CheckpointContent & { readonly sha256: string })[]).find(
    (content) => content.phase === phase && content.revision === revision,
  );
  if (found === undefined) return undefined;
  const { sha256: _, ...content } = found;
  return sealCheckpoint(content);
}

/** The phases it rests on, or the start. */
function predecessorsOf(state: SessionState, phase: string): Predecessor[] {
  const planned = plannedPhases(state.created.definition).find(({ name }) => name === phase);
  const sealed = (planned?.dependsOn ?? []).flatMap((name) => {
    const { checkpoint } = state.phases.get(name) ?? {};
    return checkpoint === undefined ? [] : [{ phase: name, ...checkpoint }];
  });
  if (sealed.length > 0) return sealed;
  return [{ phase: initPhase, revision: 1, sha256: state.initSha256 ?? projectInit(state).sha256 }];
}

/** The manifest of a phase's files, as its checkpoint carries it. */
async function manifestOf(artifacts: Artifacts, tree: string | undefined): Promise<Json | undefined> {
  if (tree === undefined) return undefined;
  return tree === emptyTreeHash ? [] : parseJson(await artifacts.get(tree), { what: "a tree" });
}
