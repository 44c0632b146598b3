import type { ForkOrigin, Transition } from "../journal/journal.ts";
import { encodeEntry } from "../journal/journal-codec.ts";
import { reduce } from "../journal/reduce.ts";
import {
  isAccepted,
  type PhaseState,
  personaOf,
  phaseOf,
  type SessionState,
  wasGiven,
} from "../journal/session-state.ts";
import { withPhase } from "../journal/update.ts";
import type { Artifacts } from "../store/artifacts.ts";
import { groupsOf, orderPhases } from "../team/definition/order.ts";
import {
  definitionJson,
  type PersonaDefinition,
  type PhaseDefinition,
  type TeamDefinition,
} from "../team/definition/team-definition.ts";
import { forkedRow } from "./fork.ts";
import { Readings } from "./persona-inputs.ts";
import { mayChange, noWork, type PlannedWork, together, workOf } from "./planned-work.ts";
import { type MergedTree, SessionTrees } from "./trees.ts";
import { isTakenOver } from "./work.ts";

/**
 * `kept`: done already. `reused`: its input is what it was, so its result is taken over. `runs`: it works. `may-run`: it
 * reads what somebody who works may change; if that one comes to the same, it is reused. Nobody knows beforehand whether
 * new work will fit: as always, whoever clashes with it is asked again.
 */
export type PlannedAction = "kept" | "reused" | "runs" | "may-run";

export interface PlannedPersona {
  readonly phase: string;
  readonly persona: string;
  readonly action: PlannedAction;
}

/** What would happen, without anything happening. */
export async function planRun(
  definition: TeamDefinition,
  state: SessionState,
  artifacts: Artifacts,
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
  /** The session as it would become: rows are imagined as planning proceeds. */
  readonly #session: { state: SessionState };
  readonly #readings: Readings;
  readonly #trees: SessionTrees;
  /** Of each phase what is done in it and before it; what comes of that is not known yet. */
  readonly #work = new Map<string, PlannedWork>();
  readonly #working = new Set<string>();

  constructor(definition: TeamDefinition, state: SessionState, artifacts: Artifacts) {
    this.#session = { state };
    this.#readings = new Readings(definition, this.#session);
    this.#trees = new SessionTrees(artifacts, definition, this.#session, this.#readings);
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
    // Where branches meet, new work may clash, and everybody in the phase is told.
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
    const input = this.#readings.input(phase, persona, tree);
    if (!isTakenOver(this.#state, phase.name, persona.name, input)) return "runs";
    const row = { kind: "persona.reused", phase: phase.name, persona: persona.name, input } as const;
    this.#session.state = imagine(this.#state, row);
    return "reused";
  }

  /** Whether what it reads may become something else: results, files that it sees, or what it is told. */
  async #restsOnWork(
    phase: PhaseDefinition,
    persona: PersonaDefinition,
    { work, mayClash }: Before,
  ): Promise<boolean> {
    if (!work.isAny) return false;
    if (mayClash || persona.consumes === null) return true;
    const isWorking = this.#readings
      .providers(phase, persona)
      .some(({ phase, persona: { name } }) => this.#working.has(`${phase} ${name}`));
    return isWorking || mayChange(work, await this.#trees.seen(phase, persona));
  }
}

/** What a persona finds when it begins. */
interface Before {
  readonly start: string | undefined;
  readonly work: PlannedWork;
  readonly mayClash: boolean;
}

/** The state after a row that is not written. */
export function imagine(state: SessionState, transition: Transition): SessionState {
  const seq = state.head.seq + 1;
  return reduce(state, { ...encodeEntry(transition), seq, position: 0, epoch: 0, at: 0, hash: "" });
}
