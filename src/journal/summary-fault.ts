import { canonicalJson, sha256 } from "../domain/canonical.ts";
import { ArtifactCorrupt } from "../domain/errors.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import { baseHashOf, emptyTreeHash, fromManifest, hashesIn } from "../domain/tree.ts";
import {
  type Checkpoint,
  type CheckpointContent,
  initPhase,
  projectInit,
  projectPhase,
  unchangedFiles,
} from "./checkpoint.ts";
import type { RecordedRow } from "./row.ts";
import type { Fault } from "./schema.ts";
import type { SessionState } from "./session-state.ts";
import { largestUsage } from "./values.ts";

/**
 * Where a checkpoint disagrees with its rows. `state` is the state at its end. A checkpoint depends on its rows and
 * on the few values compared here, so projecting it again must give the same text.
 */
export function summaryFault(
  state: SessionState,
  checkpoint: Checkpoint,
  before: Checkpoint | undefined,
): Fault | undefined {
  const { content } = checkpoint;
  const fault = placeFault(content, before?.content) ?? usageFault(content) ?? filesFault(state, content);
  if (fault !== undefined) return fault;
  const projected = project(state, content);
  if (projected === undefined) return { path: "phase", problem: "is not completed in its rows" };
  if (projected.text === checkpoint.text) return undefined;
  return { path: differingField(projected.content, content), problem: "is not what its rows say" };
}

/** Whether a row seals exactly this checkpoint. */
export function sealFault(row: JsonObject, { content, sha256: seal }: Checkpoint): Fault | undefined {
  const { phase, revision, journal: head, transitions, steps, usage } = content;
  const expected = { phase, revision, sha256: seal, head, transitions, steps, ...(usage && { usage }) };
  const path = differingField(row, expected);
  return path === "" ? undefined : { path, problem: "is not that of the checkpoint before" };
}

/** Checks the values that no row contains: where the checkpoint begins and the number of steps. */
function placeFault(content: CheckpointContent, before: CheckpointContent | undefined): Fault | undefined {
  const { phase, after, steps, journal } = content;
  if ((phase === initPhase) !== (before === undefined)) return { path: "phase", problem: "is out of order" };
  if (before !== undefined && after !== before.journal.seq)
    return { path: "after", problem: "is not where the checkpoint before ends" };
  if (steps < (before?.steps ?? 0) || steps > journal.seq)
    return { path: "steps", problem: "is not a number of steps that fits" };
  return undefined;
}

/** Budgets and reports add these sums to those of other sessions, and each total must stay exact. */
function usageFault({ usage = [] }: CheckpointContent): Fault | undefined {
  const total = usage.flatMap(({ sums }) => Object.values(sums)).reduce((all, sum) => all + sum, 0);
  if (total > largestUsage)
    return { path: "usage", problem: `has sums of more than ${largestUsage} together` };
  const places = usage.map(({ day, phase, persona, model }) => JSON.stringify([day, phase, persona, model]));
  return new Set(places).size === places.length ? undefined : { path: "usage", problem: "has a place twice" };
}

/** The list of files must be the one whose hash the rows name. */
function filesFault(state: SessionState, { phase, files }: CheckpointContent): Fault | undefined {
  const tree = state.phases.get(phase)?.tree;
  if (tree === undefined || tree === emptyTreeHash || files === undefined) return undefined;
  const manifest = JSON.stringify(files);
  const unchanged = unchangedFiles(state, tree);
  if (unchanged !== undefined)
    return manifest === JSON.stringify(unchanged)
      ? undefined
      : { path: "files", problem: "are not the files that its rows name" };
  if (sha256(manifest) !== tree) return { path: "files", problem: "are not the files that its rows name" };
  const notTree = (why: string): Fault => ({ path: "files", problem: `are not a tree${why}` });
  // The base of a tree is not in the checkpoint. Loading the tree reads both.
  if (baseHashOf(manifest) !== undefined) return hashesIn(manifest) === undefined ? notTree("") : undefined;
  try {
    fromManifest(manifest);
    return undefined;
  } catch (error) {
    if (!ArtifactCorrupt.is(error)) throw error;
    return notTree(`: ${error.message}`);
  }
}

function project(state: SessionState, content: CheckpointContent): Checkpoint | undefined {
  const rows = content.rows as unknown as readonly RecordedRow[];
  const { phase, journal: head, steps, after, usage = [] } = content;
  if (phase === initPhase) return projectInit(state, rows);
  const { completedAt, tree } = state.phases.get(phase) ?? {};
  if (completedAt === undefined) return undefined;
  const files = tree === undefined ? undefined : tree === emptyTreeHash ? [] : (content.files ?? null);
  return projectPhase(state, phase, { head, steps, after, files, usage, rows });
}

/** The first field that differs; empty if none does. */
function differingField(one: object, other: object): string {
  const [mine, theirs] = [one, other].map((each) => new Map(Object.entries(each) as [string, Json][]));
  const names = [...new Set([...(mine?.keys() ?? []), ...(theirs?.keys() ?? [])])].sort();
  const text = (value: Json | undefined) => (value === undefined ? "" : canonicalJson(value));
  return names.find((name) => text(mine?.get(name)) !== text(theirs?.get(name))) ?? "";
}
