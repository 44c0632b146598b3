import { ArtifactCorrupt } from "../domain/errors.ts";
import { type Json, parseJson } from "../domain/json.ts";
import { emptyTreeHash } from "../domain/tree.ts";
import { type Seal, sealIn } from "../journal/chain.ts";
import {
  type Checkpoint,
  initPhase,
  projectInit,
  projectPhase,
  unchangedFiles,
} from "../journal/checkpoint.ts";
import type { RecordedRow } from "../journal/journal.ts";
import { reduce } from "../journal/reduce.ts";
import { emptyState, type Sealed, type SessionState } from "../journal/session-state.ts";
import type { Blobs } from "./blobs.ts";
import type { SessionFiles } from "./session-files.ts";
import type { SessionJournal } from "./session-journal.ts";
import type { Store } from "./store.ts";

/**
 * The row commits first, the file follows: a missing file can be projected again, but a file without its row would
 * be wrong.
 */
export async function sealPhase(phase: string, { journal, files, artifacts }: SealParts): Promise<void> {
  const { state, store } = journal;
  const { head, stepCount: steps } = state;
  const after = lastSealed(state);
  const usage = await store.reports.snapshot(state.id);
  const rows: RecordedRow[] = [];
  for await (const page of store.readTransitions(state.id, after))
    rows.push(...page.filter(({ seq }) => seq <= head.seq));
  const manifest = await manifestOf(artifacts, state, phase);
  const checkpoint = projectPhase(state, phase, { head, steps, after, files: manifest, usage, rows });
  const { sha256, content } = checkpoint;
  await journal.append([
    {
      kind: "checkpoint.sealed",
      phase,
      revision: content.revision,
      sha256,
      head,
      transitions: state.transitions,
      steps,
      ...(usage.length > 0 && { usage }),
    },
  ]);
  await files.writeCheckpoint(checkpoint);
}

export interface SealParts {
  readonly journal: SessionJournal;
  readonly files: SessionFiles;
  readonly artifacts: Blobs;
}

/** The last row that a checkpoint covers. */
const lastSealed = ({ seals, createdHead }: SessionState): number =>
  [...seals.values()].at(-1)?.head.seq ?? createdHead.seq;

/** The checkpoint of the session's creation. For a fork, it includes the rows the fork was created with. */
export async function projectStart(state: SessionState, store: Store): Promise<Checkpoint> {
  const rows: RecordedRow[] = [];
  const { seq: last } = state.createdHead;
  if (last > 1)
    for await (const page of store.readTransitions(state.id, 1)) {
      rows.push(...page.filter(({ seq }) => seq <= last));
      if ((page.at(-1)?.seq ?? 0) >= last) break;
    }
  return projectInit(state, rows);
}

/** Rebuilds checkpoints as they were sealed. Leaves out those whose files are damaged. */
export async function projectAgain<One extends Sealed>(
  id: SessionState["id"],
  wanted: readonly One[],
  { store, artifacts }: { readonly store: Store; readonly artifacts: Blobs },
): Promise<ReadonlyMap<One, Checkpoint>> {
  const projected = new Map<One, Checkpoint>();
  const keep = (sealed: One, checkpoint: Checkpoint | undefined) => {
    if (checkpoint?.sha256 === sealed.sha256) projected.set(sealed, checkpoint);
  };
  if (wanted.length === 0) return projected;
  const bySeal = new Map(wanted.map((sealed) => [sealed.sha256, sealed]));
  let state = emptyState(id);
  /** Rows since the last seal: a seal covers rows up to some row before it. */
  let segment: { readonly row: RecordedRow; readonly state: SessionState }[] = [];
  for await (const page of store.readTransitions(id)) {
    for (const row of page) {
      state = reduce(state, row);
      segment.push({ row, state });
      const entry = sealIn(row);
      if (entry === undefined) continue;
      const sealed = bySeal.get(entry.sha256);
      const at = segment.findLast((known) => known.row.seq <= entry.head.seq);
      if (sealed !== undefined && at !== undefined) {
        const rows = segment.flatMap((known) =>
          known.row.seq > sealed.after && known.row.seq <= entry.head.seq ? [known.row] : [],
        );
        keep(sealed, await project(at.state, sealed, { entry, rows, artifacts }));
      }
      segment = segment.filter((known) => known.row.seq > entry.head.seq);
    }
  }
  const init = wanted.find(({ phase }) => phase === initPhase);
  if (init !== undefined) keep(init, await projectStart(state, store));
  return projected;
}

async function project(
  state: SessionState,
  { phase, after }: Sealed,
  {
    entry,
    rows,
    artifacts,
  }: {
    readonly entry: Seal;
    readonly rows: readonly RecordedRow[];
    readonly artifacts: Blobs;
  },
): Promise<Checkpoint | undefined> {
  try {
    const files = await manifestOf(artifacts, state, phase);
    const { head, steps, usage = [] } = entry;
    return projectPhase(state, phase, { head, steps, after, files, usage, rows });
  } catch (error) {
    if (ArtifactCorrupt.is(error)) return undefined;
    throw error;
  }
}

/** The manifest of a phase's files, as in its checkpoint. */
async function manifestOf(artifacts: Blobs, state: SessionState, phase: string): Promise<Json | undefined> {
  const { tree } = state.phases.get(phase) ?? {};
  if (tree === undefined) return undefined;
  const unchanged = unchangedFiles(state, tree);
  if (unchanged !== undefined) return unchanged;
  return tree === emptyTreeHash ? [] : parseJson(await artifacts.get(tree), { what: "a tree" });
}
