import { changesBetween, emptyTree, LayeredTree, type Tree } from "../domain/tree.ts";
import type { PersonaState, SessionState } from "../journal/session-state.ts";
import type { ArtifactView } from "../journal/view.ts";
import type { Blobs } from "../store/blobs.ts";
import { groupsOf, orderPhases } from "../team/definition/order.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";
import type { PhaseDefinition } from "../team/definition/team-definition.ts";
import type { BlobStore } from "../workspace/blobs.ts";
import { BlobsBeside } from "../workspace/blobs.ts";
import { loadTree } from "../workspace/stored-tree.ts";
import { installedIn } from "./setup/kept-paths.ts";
import { handsOnEverything } from "./trees.ts";

/** The files as the session has them now, each with the persona that changed it last. */
export async function listFiles(state: SessionState, artifacts: Blobs): Promise<ArtifactView[]> {
  const owners = new Map<string, { readonly phase: string; readonly persona: string }>();
  const definition = recordedDefinition(state.created.definition);
  const phases = new Map(definition.phases.map((phase) => [phase.name, phase]));
  for (const phase of orderPhases(definition)) {
    const [planned, known] = [phases.get(phase), state.phases.get(phase)];
    if (planned === undefined || known?.status !== "completed") continue;
    for (const [persona, { base, tree }] of asMerged(planned, known.personas)) {
      if (tree === undefined || tree === base) continue;
      const changes = changesBetween(await load(artifacts, base), await load(artifacts, tree));
      for (const { path } of changes) owners.set(path, { phase, persona });
    }
  }
  const { tree } = await finalTree(state, artifacts);
  const isIn = await installedIn(state, artifacts);
  // Of a repository, only what changed.
  const files = tree instanceof LayeredTree ? tree.changes : tree;
  return [...files]
    .flatMap(([path, file]) => (file === undefined ? [] : [[path, file] as const]))
    .filter(([path]) => !isIn(path))
    .map(([path, { sha256, bytes }]) => {
      const { persona = null, phase = null } = owners.get(path) ?? {};
      return { path, sha256, bytes, persona, phase };
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** In the order of the merges: group by group as declared, then the personas that were sent back, then those that waited. */
function asMerged(
  phase: PhaseDefinition,
  personas: ReadonlyMap<string, PersonaState>,
): readonly (readonly [string, PersonaState])[] {
  const turns = new Map<string, number>();
  const later = (name: string, at: number) => turns.set(name, Math.max(at, turns.get(name) ?? 0));
  for (const [name, { reopened }] of personas) {
    if (reopened === undefined) continue;
    for (const waiting of [name, ...reopened.unmerged]) later(waiting, reopened.at);
  }
  return groupsOf(phase).flatMap((members) =>
    members
      .flatMap(({ name }) => {
        const known = personas.get(name);
        return known === undefined ? [] : [[name, known] as const];
      })
      .sort(([a], [b]) => (turns.get(a) ?? 0) - (turns.get(b) ?? 0)),
  );
}

async function load(artifacts: Blobs, tree: string | undefined): Promise<Tree> {
  return tree === undefined ? emptyTree : loadTree(artifacts, tree);
}

/** A tree and the store of its contents. */
export interface FinalTree {
  readonly tree: Tree;
  readonly blobs: BlobStore;
}

/**
 * The files as the session has them now: those of the last completed phase or, in a graph, of all branches, merged as for
 * a phase that depends on all of them. Nothing is stored.
 */
export async function finalTree(state: SessionState, artifacts: BlobStore): Promise<FinalTree> {
  const definition = recordedDefinition(state.created.definition);
  const done = orderPhases(definition).filter((name) => state.phases.get(name)?.status === "completed");
  const isDone = new Set(done);
  const restedOn = new Set(
    definition.phases.flatMap(({ name, dependsOn }) => (isDone.has(name) ? dependsOn : [])),
  );
  const [last, ...others] = done.filter((name) => !restedOn.has(name));
  const load = (ref: string | undefined) => (ref === undefined ? emptyTree : loadTree(artifacts, ref));
  if (last === undefined || (others.length === 0 && handsOnEverything(definition, state))) {
    const tree = last === undefined ? state.created.source?.tree : state.phases.get(last)?.tree;
    return { tree: await load(tree), blobs: artifacts };
  }
  // Loaded only where branches meet: most queries need no merge.
  const { mergeTrees } = await import("../workspace/merge.ts");
  const blobs = new BlobsBeside(artifacts);
  let ours = await load(state.created.source?.tree);
  for (const name of done) {
    const { base, tree } = state.phases.get(name) ?? {};
    if (tree === base) continue;
    ours = (await mergeTrees({ base: await load(base), ours, theirs: await load(tree), blobs })).tree;
  }
  return { tree: ours, blobs };
}
