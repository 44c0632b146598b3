import {
  changesBetween,
  emptyTree,
  LayeredTree,
  type Tree,
  type TreeFile,
  withChanges,
} from "../domain/tree.ts";
import type { FilesEdit } from "../journal/journal.ts";
import { personaOf, phaseOf, type SessionState } from "../journal/session-state.ts";
import type { Blobs } from "../store/blobs.ts";
import { ancestorsOf, type PhaseOrder } from "../team/definition/order.ts";
import type {
  PersonaDefinition,
  PhaseDefinition,
  TeamDefinition,
} from "../team/definition/team-definition.ts";
import { type Conflict, describeConflict } from "../workspace/conflict.ts";
import { namedMatchers, readNamedFiles } from "../workspace/named-files.ts";
import { loadTree, storeTree } from "../workspace/stored-tree.ts";
import type { PersonaInputs, StateHolder } from "./persona-inputs.ts";
import { hiddenFrom } from "./read-rules.ts";

/** A tree by its hash; undefined means that there are no files. */
export type TreeRef = string | undefined;

export interface MergedTree {
  readonly tree: TreeRef;
  readonly conflicts: readonly Conflict[];
  /** The artifacts that a row with this tree refers to. */
  readonly artifacts: readonly string[];
}

/** Branches, or an edit and new work, left different versions of a file. */
export interface Clash {
  readonly path: string;
  readonly text: string;
}

/** The files that a phase starts with or leaves. */
export interface PhaseFiles extends Pick<MergedTree, "tree" | "artifacts"> {
  readonly clashes: readonly Clash[];
}

/** The files of a session: those that a phase starts with, those that a persona sees, and their merge. */
export class SessionTrees {
  readonly #artifacts: Blobs;
  readonly #definition: TeamDefinition;
  readonly #session: StateHolder;
  readonly #inputs: PersonaInputs;
  /** The last few: neighbors load the same trees. */
  readonly #loaded = new Map<string, Tree>();
  /** By policy and tree: a policy is matched against each path of a repository once. */
  readonly #readable = new Map<string, MergedTree>();

  constructor(artifacts: Blobs, definition: TeamDefinition, session: StateHolder, inputs: PersonaInputs) {
    this.#artifacts = artifacts;
    this.#definition = definition;
    this.#session = session;
    this.#inputs = inputs;
  }

  get #state(): SessionState {
    return this.#session.state;
  }

  async load(ref: TreeRef): Promise<Tree> {
    if (ref === undefined) return emptyTree;
    let tree = this.#loaded.get(ref);
    if (tree === undefined) {
      tree = await loadTree(this.#artifacts, ref);
      if (this.#loaded.size >= 16) this.#loaded.clear();
      this.#loaded.set(ref, tree);
    }
    return tree;
  }

  /** The files of the phases before it. Branches are merged in order; where they clash, the first version stays. */
  async before(phase: PhaseDefinition): Promise<PhaseFiles> {
    const [single, ...others] = phase.dependsOn;
    const source = this.#state.created.source?.tree;
    if (single === undefined) return { tree: source, clashes: [], artifacts: [] };
    if (others.length === 0 && handsOnEverything(this.#definition, this.#state))
      return { tree: phaseOf(this.#state, single).tree, clashes: [], artifacts: [] };
    let merged: MergedTree = { tree: source, conflicts: [], artifacts: [] };
    const clashes: Clash[] = [];
    const ancestors = ancestorsOf(this.#definition, phase.name);
    for (const [place, name] of ancestors.entries()) {
      const { base, tree } = phaseOf(this.#state, name);
      const { conflicts, ...next } = await this.merge(base, merged, tree);
      for (const conflict of conflicts) {
        const changers = await this.#changersOf(conflict, ancestors.slice(0, place));
        // The clash was reviewed where these branches met before.
        if (this.#haveMet([...changers, name], ancestors)) continue;
        clashes.push({ path: conflict.path, text: describeConflict(conflict, changers.join(", "), name) });
      }
      merged = { ...next, conflicts: [] };
    }
    const { tree, artifacts } = merged;
    return { tree, artifacts, clashes };
  }

  /** The files that the phase starts with, including those given from outside. */
  async withGiven(phase: string, before: TreeRef): Promise<PhaseFiles> {
    const { given } = phaseOf(this.#state, phase);
    if (given === undefined) return { tree: before, artifacts: [], clashes: [] };
    return this.#lay(given, before, "the phases before it", "what was given");
  }

  /** A person's edit of a phase stays when the phase runs again, except where it clashes with new work. */
  async withEdit(phase: string, made: TreeRef): Promise<PhaseFiles> {
    const { edit } = phaseOf(this.#state, phase);
    if (edit === undefined) return { tree: made, artifacts: [], clashes: [] };
    return this.#lay(edit, made, phase, "the edit");
  }

  async #lay(
    { base, tree: theirs }: FilesEdit,
    under: TreeRef,
    one: string,
    other: string,
  ): Promise<PhaseFiles> {
    const ours = { tree: under, conflicts: [], artifacts: [] };
    const { tree, artifacts, conflicts } = await this.merge(base, ours, theirs);
    const clashes = conflicts.map((conflict) => ({
      path: conflict.path,
      text: describeConflict(conflict, one, other),
    }));
    return { tree, artifacts, clashes };
  }

  async #changersOf({ path, other = path }: Conflict, phases: readonly string[]): Promise<string[]> {
    const changers: string[] = [];
    for (const name of phases) {
      const changed = await this.#changed(phaseOf(this.#state, name));
      if (changed.includes(path) || changed.includes(other)) changers.push(name);
    }
    return changers;
  }

  #haveMet(branches: readonly string[], phases: readonly string[]): boolean {
    return phases.some((phase) => {
      const before = new Set(ancestorsOf(this.#definition, phase));
      return branches.every((branch) => before.has(branch));
    });
  }

  /** The files of the phase that a persona sees: all, or those of the contracts it consumes; none that it may not read. */
  async visible(phase: PhaseDefinition, persona: PersonaDefinition, tree: TreeRef): Promise<MergedTree> {
    if (persona.consumes === null || tree === undefined) return this.readable(persona, tree);
    const consumed = await this.#only(await this.#consumed(phase, persona, tree), tree);
    return withArtifacts(await this.readable(persona, consumed.tree), consumed.artifacts);
  }

  /** The tree without the files that the persona may not read. Its changes are merged, so that the files stay. */
  async readable({ policy }: PersonaDefinition, tree: TreeRef): Promise<MergedTree> {
    const whyHidden = hiddenFrom(policy, this.#state.created.source);
    if (whyHidden === undefined || tree === undefined) return { tree, conflicts: [], artifacts: [] };
    const known = `${JSON.stringify(policy.read)} ${tree}`;
    const before = this.#readable.get(known);
    if (before !== undefined) return before;
    const all = await this.load(tree);
    const hidden = [...all.keys()].filter((path) => whyHidden(path) !== undefined);
    const seen: MergedTree =
      hidden.length === 0
        ? { tree, conflicts: [], artifacts: [] }
        : await this.#keep(
            withChanges(
              all,
              hidden.map((path) => ({ path })),
            ),
            [],
          );
    if (this.#readable.size >= 64) this.#readable.clear();
    this.#readable.set(known, seen);
    return seen;
  }

  /** All paths and patterns that a persona with `consumes` can see, also of files that do not exist yet. */
  async seen(phase: PhaseDefinition, persona: PersonaDefinition): Promise<readonly string[]> {
    const seen: string[] = [];
    for (const { phase: home, persona: provider } of this.#inputs.providers(phase, persona)) {
      seen.push(...provider.contract.deliverables.flatMap(({ files }) => readNamedFiles(files).globs));
      seen.push(...(await this.changedBy(home, provider.name)));
      seen.push(...(await this.#changed(phaseOf(this.#state, home).edit ?? {})));
    }
    return seen;
  }

  /**
   * The files for a persona that is sent back: the merged files that it may see, and as their base the same without its
   * own changes. Changes that others have built on belong to the base.
   */
  async sentBack(
    phase: PhaseDefinition,
    persona: PersonaDefinition,
    merged: TreeRef,
    clashing: readonly string[],
  ): Promise<{ readonly tree: MergedTree; readonly base: MergedTree }> {
    const own = personaOf(this.#state, phase.name, persona.name);
    const whole: MergedTree = { tree: merged, conflicts: [], artifacts: [] };
    const others = await this.merge(own.tree, whole, own.base);
    const readable = async ({ tree, artifacts }: MergedTree) =>
      withArtifacts(await this.readable(persona, tree), artifacts);
    if (persona.consumes === null || merged === undefined)
      return { tree: await readable(whole), base: await readable(others) };
    const seen = await this.#consumed(phase, persona, merged);
    for (const known of [own.base, own.tree])
      for (const path of (await this.load(known)).keys()) seen.add(path);
    for (const path of clashing) seen.add(path);
    return {
      tree: await readable(await this.#only(seen, merged)),
      base: await readable(await this.#only(seen, others.tree)),
    };
  }

  /** The paths that it changed. */
  changedBy(phase: string, persona: string): Promise<readonly string[]> {
    return this.#changed(personaOf(this.#state, phase, persona));
  }

  /** Applies the changes from `base` to `theirs` on top of `ours`. */
  async merge(base: TreeRef, ours: MergedTree, theirs: TreeRef): Promise<MergedTree> {
    if (theirs === base) return ours;
    if (ours.tree === base) return { ...ours, tree: theirs };
    // Loaded only where branches meet: a start does not wait for it.
    const { mergeTrees } = await import("../workspace/merge.ts");
    const { tree, conflicts, artifacts } = await mergeTrees({
      base: await this.load(base),
      ours: await this.load(ours.tree),
      theirs: await this.load(theirs),
      blobs: this.#artifacts,
    });
    return this.#keep(tree, [...ours.artifacts, ...artifacts], [...ours.conflicts, ...conflicts]);
  }

  /** The paths of the contracts it consumes. */
  async #consumed(phase: PhaseDefinition, persona: PersonaDefinition, tree: TreeRef): Promise<Set<string>> {
    const all = await this.load(tree);
    const paths = new Set<string>();
    for (const provider of this.#inputs.providers(phase, persona))
      for (const path of await this.#pathsOf(provider.phase, provider.persona, all)) paths.add(path);
    return paths;
  }

  /** The deliverables it names, its other changes, and files that a person added. */
  async #pathsOf(phase: string, persona: PersonaDefinition, all: Tree): Promise<string[]> {
    return [...(await this.#ownPaths(phase, persona, all)), ...(await this.#added(phase, all))];
  }

  /** A pattern covers files that the persona found and files that a person added, not those that others made. */
  async #ownPaths(phase: string, { name, contract }: PersonaDefinition, all: Tree): Promise<Set<string>> {
    const own = new Set(await this.changedBy(phase, name));
    const matchers = contract.deliverables.flatMap(({ files }) => [...namedMatchers(files).values()]);
    if (matchers.length === 0) return own;
    const { base, edit = {} } = phaseOf(this.#state, phase);
    const before = await this.load((await this.withGiven(phase, base)).tree);
    const left = await this.load(personaOf(this.#state, phase, name).tree);
    const added = new Set(await this.#changed(edit));
    const claimed = [...all.keys()].filter((path) => added.has(path) || (before.has(path) && left.has(path)));
    for (const matches of matchers) for (const path of claimed.filter(matches)) own.add(path);
    return own;
  }

  /** Files that a person edited and no persona of the phase made. They belong to all of its personas. */
  async #added(phase: string, all: Tree): Promise<readonly string[]> {
    const { edit } = phaseOf(this.#state, phase);
    if (edit === undefined) return [];
    const owned = new Set<string>();
    const { personas = [] } = this.#definition.phases.find(({ name }) => name === phase) ?? {};
    for (const persona of personas)
      for (const path of await this.#ownPaths(phase, persona, all)) owned.add(path);
    return (await this.#changed(edit)).filter((path) => !owned.has(path));
  }

  async #changed({ base, tree }: { base?: TreeRef; tree?: TreeRef }): Promise<readonly string[]> {
    return changesBetween(await this.load(base), await this.load(tree)).map(({ path }) => path);
  }

  async #only(paths: Iterable<string>, tree: TreeRef): Promise<MergedTree> {
    const all = await this.load(tree);
    // Every persona sees the repository; of what others changed in it, only these paths.
    if (all instanceof LayeredTree)
      return this.#keep(
        new LayeredTree(
          all.base,
          Array.from(paths, (path) => [path, all.get(path)]),
        ),
        [],
      );
    const seen = new Map<string, TreeFile>();
    for (const path of paths) {
      const file = all.get(path);
      if (file !== undefined) seen.set(path, file);
    }
    if (seen.size === 0) return { tree: undefined, conflicts: [], artifacts: [] };
    return this.#keep(seen, []);
  }

  async #keep(
    tree: Tree,
    artifacts: readonly string[],
    conflicts: readonly Conflict[] = [],
  ): Promise<MergedTree> {
    const ref = await storeTree(this.#artifacts, tree);
    this.#loaded.set(ref, tree);
    return { tree: ref, conflicts, artifacts: [...artifacts, ref] };
  }
}

const withArtifacts = (merged: MergedTree, more: readonly string[]): MergedTree => ({
  ...merged,
  artifacts: [...more, ...merged.artifacts],
});

/**
 * Whether the tree of each phase contains the files of all phases before it. A phase from outside began with the files of
 * that moment: phases that run before it later, or that a changed team adds, are not in its tree.
 */
export function handsOnEverything({ phases }: PhaseOrder, state: SessionState): boolean {
  return phases.every(({ name, dependsOn: [before, ...others] }) => {
    const phase = state.phases.get(name);
    if (phase === undefined || phase.source.kind === "work") return true;
    if (others.length > 0) return false;
    const under = before === undefined ? state.created.source?.tree : state.phases.get(before)?.tree;
    return phase.base === under;
  });
}
