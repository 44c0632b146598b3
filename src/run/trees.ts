import { changesBetween, emptyTree, type Tree, type TreeFile, toManifest, treeHash } from "../domain/tree.ts";
import type { FilesEdit } from "../journal/journal.ts";
import { personaOf, phaseOf, type SessionState } from "../journal/session-state.ts";
import type { Artifacts } from "../store/artifacts.ts";
import { ancestorsOf } from "../team/definition/order.ts";
import type {
  PersonaDefinition,
  PhaseDefinition,
  TeamDefinition,
} from "../team/definition/team-definition.ts";
import { type Conflict, describeConflict } from "../workspace/merge.ts";
import { namedMatchers, readNamedFiles } from "../workspace/named-files.ts";
import { loadTree } from "../workspace/stored-tree.ts";
import { handsOnEverything } from "./file-lineage.ts";
import type { Readings, StateHolder } from "./persona-inputs.ts";

/** A tree by its hash; undefined means that there are no files. */
export type TreeRef = string | undefined;

export interface MergedTree {
  readonly tree: TreeRef;
  readonly conflicts: readonly Conflict[];
  /** What a journal row that names the tree points to. */
  readonly artifacts: readonly string[];
}

/** Where branches, or an edit and new work, left different versions of a file. */
export interface Clash {
  readonly path: string;
  readonly text: string;
}

/** Files of a phase: what it starts with, or what it leaves. */
export interface PhaseFiles extends Pick<MergedTree, "tree" | "artifacts"> {
  readonly clashes: readonly Clash[];
}

/** The files of a session: what a phase starts with, what a persona sees of it, and what becomes of them together. */
export class SessionTrees {
  readonly #artifacts: Artifacts;
  readonly #definition: TeamDefinition;
  readonly #session: StateHolder;
  readonly #readings: Readings;
  /** The last few, because neighbors ask for the same ones. */
  readonly #loaded = new Map<string, Tree>();

  constructor(artifacts: Artifacts, definition: TeamDefinition, session: StateHolder, readings: Readings) {
    this.#artifacts = artifacts;
    this.#definition = definition;
    this.#session = session;
    this.#readings = readings;
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

  /** What the phases before it left. Branches that meet are merged in order; where they clash the first stays. */
  async before(phase: PhaseDefinition): Promise<PhaseFiles> {
    const [single, ...others] = phase.dependsOn;
    if (single === undefined) return { tree: undefined, clashes: [], artifacts: [] };
    if (others.length === 0 && handsOnEverything(this.#definition, this.#state))
      return { tree: phaseOf(this.#state, single).tree, clashes: [], artifacts: [] };
    let merged: MergedTree = { tree: undefined, conflicts: [], artifacts: [] };
    const clashes: Clash[] = [];
    const ancestors = ancestorsOf(this.#definition, phase.name);
    for (const [place, name] of ancestors.entries()) {
      const { base, tree } = phaseOf(this.#state, name);
      const { conflicts, ...next } = await this.merge(base, merged, tree);
      for (const conflict of conflicts) {
        const changers = await this.#changersOf(conflict, ancestors.slice(0, place));
        // Where these branches met before, somebody has looked at it.
        if (this.#haveMet([...changers, name], ancestors)) continue;
        clashes.push({ path: conflict.path, text: describeConflict(conflict, changers.join(", "), name) });
      }
      merged = { ...next, conflicts: [] };
    }
    const { tree, artifacts } = merged;
    return { tree, artifacts, clashes };
  }

  /** What was brought from outside for a phase is there when somebody works on it. */
  async withGiven(phase: string, before: TreeRef): Promise<PhaseFiles> {
    const { given } = phaseOf(this.#state, phase);
    if (given === undefined) return { tree: before, artifacts: [], clashes: [] };
    return this.#lay(given, before, "the phases before it", "what was given");
  }

  /** What a person changed in a phase stays when it is gone through again, wherever it does not clash with new work. */
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

  /** What a persona sees of the phase's files: all, or those of the contracts it consumes. */
  async visible(phase: PhaseDefinition, persona: PersonaDefinition, tree: TreeRef): Promise<MergedTree> {
    if (persona.consumes === null || tree === undefined) return { tree, conflicts: [], artifacts: [] };
    return this.#only(await this.#consumed(phase, persona, tree), tree);
  }

  /** The paths, and the patterns, of all that a persona who consumes contracts can see, whatever becomes of the files. */
  async seen(phase: PhaseDefinition, persona: PersonaDefinition): Promise<readonly string[]> {
    const seen: string[] = [];
    for (const { phase: home, persona: provider } of this.#readings.providers(phase, persona)) {
      seen.push(...provider.contract.deliverables.flatMap(({ files }) => readNamedFiles(files).globs));
      seen.push(...(await this.changedBy(home, provider.name)));
      seen.push(...(await this.#changed(phaseOf(this.#state, home).edit ?? {})));
    }
    return seen;
  }

  /**
   * What a persona that is sent back works on: the merged files, as far as it may see them, and the same without its
   * own changes. Where others have built on its work, that is theirs now.
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
    if (persona.consumes === null || merged === undefined) return { tree: whole, base: others };
    const seen = await this.#consumed(phase, persona, merged);
    for (const known of [own.base, own.tree])
      for (const path of (await this.load(known)).keys()) seen.add(path);
    for (const path of clashing) seen.add(path);
    return { tree: await this.#only(seen, merged), base: await this.#only(seen, others.tree) };
  }

  /** Which paths it changed. */
  changedBy(phase: string, persona: string): Promise<readonly string[]> {
    return this.#changed(personaOf(this.#state, phase, persona));
  }

  /** Lays what happened between `base` and `theirs` over `ours`. */
  async merge(base: TreeRef, ours: MergedTree, theirs: TreeRef): Promise<MergedTree> {
    if (theirs === base) return ours;
    if (ours.tree === base) return { ...ours, tree: theirs };
    // Loaded where branches really meet: a start does not wait for it.
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
    for (const provider of this.#readings.providers(phase, persona))
      for (const path of await this.#pathsOf(provider.phase, provider.persona, all)) paths.add(path);
    return paths;
  }

  /** What it delivered by name, whatever else it changed, and what a person added. */
  async #pathsOf(phase: string, persona: PersonaDefinition, all: Tree): Promise<string[]> {
    return [...(await this.#ownPaths(phase, persona, all)), ...(await this.#added(phase, all))];
  }

  /** A pattern is no claim on what others made beside or after it: only on what it found, and on what a person added. */
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

  /** What a person edited and no persona of the phase made: it is of all of them. */
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
    const ref = treeHash(tree);
    this.#loaded.set(ref, tree);
    await this.#artifacts.put(toManifest(tree));
    return { tree: ref, conflicts, artifacts: [...artifacts, ref] };
  }
}
