import { changesBetween, emptyTree, type Tree } from "../domain/tree.ts";
import { isInstalled } from "../domain/tree-path.ts";
import type { PersonaState, SessionState } from "../journal/session-state.ts";
import type { ArtifactView } from "../journal/view.ts";
import type { Artifacts } from "../store/artifacts.ts";
import { groupsOf, orderPhases } from "../team/definition/order.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";
import type { PhaseDefinition } from "../team/definition/team-definition.ts";
import { loadTree } from "../workspace/stored-tree.ts";
import { finalTree } from "./final-tree.ts";

/** The files as the session has them now, each with the persona that changed it last. */
export async function listFiles(state: SessionState, artifacts: Artifacts): Promise<ArtifactView[]> {
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
  return [...tree]
    .filter(([path]) => !isInstalled(path))
    .map(([path, { sha256, bytes }]) => {
      const { persona = null, phase = null } = owners.get(path) ?? {};
      return { path, sha256, bytes, persona, phase };
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Not as they happened to begin: group by group as declared, who was sent back after the others, who had to wait after that. */
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

async function load(artifacts: Artifacts, tree: string | undefined): Promise<Tree> {
  return tree === undefined ? emptyTree : loadTree(artifacts, tree);
}
