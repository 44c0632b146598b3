import type { ForkOrigin, Transition } from "../../journal/journal.ts";
import { encodeEntry } from "../../journal/journal-codec.ts";
import { reduce } from "../../journal/reduce.ts";
import {
  isAccepted,
  type PhaseState,
  personaOf,
  phaseOf,
  type SessionState,
  wasGiven,
} from "../../journal/session-state.ts";
import { withPhase } from "../../journal/update.ts";
import type { Blobs } from "../../store/blobs.ts";
import { isPattern } from "../../team/definition/is-pattern.ts";
import { groupsOf, orderPhases } from "../../team/definition/order.ts";
import {
  definitionJson,
  type PersonaDefinition,
  type PhaseDefinition,
  type TeamDefinition,
} from "../../team/definition/team-definition.ts";
import { globMatcher } from "../../workspace/glob.ts";
import { readNamedFiles } from "../../workspace/named-files.ts";
import { PersonaInputs } from "../persona-inputs.ts";
import { isTakenOver } from "../persona-work.ts";
import { type MergedTree, SessionTrees } from "../trees.ts";
import { forkedRow } from "./fork.ts";

/**
 * `kept`: already done. `reused`: its input is unchanged, so its result is taken over. `runs`: it works. `may-run`: it reads
 * the output of a persona that works, and is reused if that output stays the same. A plan does not foresee clashes: a
 * persona that clashes with new work gets another attempt, as in any run.
 */
export type PlannedAction = "kept" | "reused" | "runs" | "may-run";

export interface PlannedPersona {
  readonly phase: string;
  readonly persona: string;
  readonly action: PlannedAction;
}

/** Predicts a run without running anything. */
export async function planRun(
  definition: TeamDefinition,
  state: SessionState,
  artifacts: Blobs,
): Promise<PlannedPersona[]> {
  const planner = new Planner(definition, state, artifacts);
  const planned: PlannedPersona[] = [];
  const phases = new Map(definition.phases.map((phase) => [phase.name, phase]));
  for (const name of orderPhases(definition)) {
    const phase = phases.get(name);
    if (phase !== undefined) planned.push(...(await planner.plan(phase)));
  }
  return planned;
}

/** The session that a fork would be, before it exists. */
export function imagineFork(
  definition: TeamDefinition,
  parent: SessionState,
  fork: ForkOrigin,
  model: string | undefined,
): SessionState {
  const begun = {
    ...parent.begun,
    definition: definitionJson(definition),
    ...(model !== undefined && { model }),
    fork,
  };
  return imagine({ ...parent, begun }, forkedRow(definition, parent, fork, []));
}

class Planner {
  /** The predicted session: rows are reduced and not written. */
  readonly #session: { state: SessionState };
  readonly #inputs: PersonaInputs;
  readonly #trees: SessionTrees;
  /** The work in each phase and before it. Its results are not known yet. */
  readonly #work = new Map<string, PlannedWork>();
  readonly #working = new Set<string>();

  constructor(definition: TeamDefinition, state: SessionState, artifacts: Blobs) {
    this.#session = { state };
    this.#inputs = new PersonaInputs(definition, this.#session);
    this.#trees = new SessionTrees(artifacts, definition, this.#session, this.#inputs);
  }

  get #state(): SessionState {
    return this.#session.state;
  }

  #change(phase: string, change: Partial<PhaseState>): void {
    this.#session.state = withPhase(this.#state, phase, change);
  }

  async plan(phase: PhaseDefinition): Promise<PlannedPersona[]> {
    const { name, personas } = phase;
    const state = phaseOf(this.#state, name);
    let work = together(phase.dependsOn.map((before) => this.#work.get(before) ?? noWork));
    // Where branches meet, new work may clash, and a clash is part of the input of every persona of the phase.
    const mayClash = work.isAny && phase.dependsOn.length > 1;
    this.#work.set(name, work);
    if (isAccepted(state))
      return personas.map((persona) => ({ phase: name, persona: persona.name, action: "kept" }));
    const planned: PlannedPersona[] = [];
    const before = await this.#trees.before(phase);
    this.#change(name, { base: before.tree });
    const { clashes, ...start } = await this.#trees.withGiven(name, before.tree);
    this.#change(name, { clashes: [...before.clashes, ...clashes].map(({ text }) => text) });
    let merged: MergedTree = { ...start, conflicts: [] };
    for (const group of groupsOf(phase)) {
      const start = merged.tree;
      const working: PersonaDefinition[] = [];
      for (const persona of group) {
        const action = await this.#planPersona(phase, persona, { start, work, mayClash });
        planned.push({ phase: name, persona: persona.name, action });
        if (action === "runs" || action === "may-run") working.push(persona);
      }
      // Members of a group do not see each other's work.
      for (const persona of working) this.#working.add(`${name} ${persona.name}`);
      work = together([work, ...working.map(workOf)]);
      for (const persona of group) {
        const own = personaOf(this.#state, name, persona.name);
        if (own.result !== undefined && !wasGiven(phaseOf(this.#state, name), own))
          merged = await this.#trees.merge(own.base, merged, own.tree);
      }
    }
    this.#work.set(name, work);
    const { tree } = await this.#trees.withEdit(name, merged.tree);
    const isDone = planned.every(({ action }) => action === "kept" || action === "reused");
    this.#change(name, { tree, ...(isDone && { status: "completed" }) });
    return planned;
  }

  async #planPersona(
    phase: PhaseDefinition,
    persona: PersonaDefinition,
    before: Before,
  ): Promise<PlannedAction> {
    const state = personaOf(this.#state, phase.name, persona.name);
    if (state.result !== undefined) return "kept";
    if (await this.#restsOnWork(phase, persona, before))
      return state.candidate?.result === undefined ? "runs" : "may-run";
    const { tree } = await this.#trees.visible(phase, persona, before.start);
    const input = this.#inputs.input(phase, persona, tree);
    if (!isTakenOver(this.#state, phase.name, persona.name, input)) return "runs";
    const row = { kind: "persona.reused", phase: phase.name, persona: persona.name, input } as const;
    this.#session.state = imagine(this.#state, row);
    return "reused";
  }

  /** Whether its input may change: results, visible files, or notes. */
  async #restsOnWork(
    phase: PhaseDefinition,
    persona: PersonaDefinition,
    { work, mayClash }: Before,
  ): Promise<boolean> {
    if (!work.isAny) return false;
    if (mayClash || persona.consumes === null) return true;
    const isWorking = this.#inputs
      .providers(phase, persona)
      .some(({ phase, persona: { name } }) => this.#working.has(`${phase} ${name}`));
    return isWorking || mayChange(work, await this.#trees.seen(phase, persona));
  }
}

/** The state of the phase when a persona begins. */
interface Before {
  readonly start: string | undefined;
  readonly work: PlannedWork;
  readonly mayClash: boolean;
}

/** The state after a row that is not written. */
export function imagine(state: SessionState, transition: Transition): SessionState {
  const seq = state.head.seq + 1;
  return reduce(state, { ...encodeEntry(transition), seq, epoch: 0, at: 0, hash: "" });
}

/** Planned work before a persona begins. */
export interface PlannedWork {
  readonly isAny: boolean;
  /** Globs of the files it may change. Null: all files. */
  readonly writes: readonly string[] | null;
}

export const noWork: PlannedWork = { isAny: false, writes: [] };

/** Exceptions of the policy are ignored here: a plan may show too much work, never too little. */
export const workOf = ({ policy: { write } }: PersonaDefinition): PlannedWork => ({
  isAny: true,
  writes: write === null ? null : readNamedFiles(write).globs,
});

export function together(works: readonly PlannedWork[]): PlannedWork {
  const done = works.filter(({ isAny }) => isAny);
  const [only] = done;
  // Most phases have one dependency, so that a long line of phases shares one object.
  if (done.length <= 1 || only?.writes === null) return only ?? noWork;
  const writes = new Set<string>();
  for (const work of done) {
    if (work.writes === null) return work;
    for (const glob of work.writes) writes.add(glob);
  }
  return { isAny: true, writes: [...writes] };
}

/** Whether it may change a file at one of these paths or patterns. Two patterns are taken to overlap. */
export function mayChange({ isAny, writes }: PlannedWork, seen: readonly string[]): boolean {
  if (!isAny || seen.length === 0) return false;
  if (writes === null || (writes.length > 0 && seen.some(isPattern))) return true;
  return writes.map(globMatcher).some((matches) => seen.some(matches));
}
