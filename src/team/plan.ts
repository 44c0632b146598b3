import { applyRecorded } from "../domain/fold.ts";
import type { ForkOrigin, Transition } from "../domain/journal.ts";
import { encodeEntry } from "../domain/journal-codec.ts";
import { emptyState, isAccepted, personaOf, phaseOf, type SessionState } from "../domain/session-state.ts";
import type { Artifacts } from "../state/artifacts.ts";
import { groupsOf, orderPhases } from "./definition/order.ts";
import type { PersonaDefinition, PhaseDefinition, TeamDefinition } from "./definition/team-definition.ts";
import { rowOfPersona, rowsOfPhase, takenOver } from "./fork.ts";
import { Readings } from "./readings.ts";
import { type MergedTree, SessionTrees } from "./trees.ts";

/**
 * `kept`: done already. `reused`: its input is what it was, so its result is taken over. `runs`: it works. `may-run`: it
 * rests on somebody who works; if that one comes to the same result, it is reused.
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
  const state = emptyState(parent.id);
  const kept = takenOver(definition, fork);
  // What was given to its parent is taken over phase by phase, and not where it runs again.
  const { given: _, ...created } = parent.created;
  const rows: Transition[] = [
    { ...created, ...(model !== undefined && { model }), fork },
    ...kept.flatMap((name) => rowsOfPhase(name, fork, parent)),
  ];
  if (!fork.fresh) {
    for (const { name, personas } of definition.phases) {
      if (kept.includes(name)) continue;
      rows.push(...personas.flatMap((persona) => rowOfPersona(name, persona.name, parent) ?? []));
    }
  }
  for (const row of rows) imagine(state, row);
  return state;
}

class Planner {
  readonly #state: SessionState;
  readonly #readings: Readings;
  readonly #trees: SessionTrees;
  /** Phases that somebody works in; what rests on them is not known before. */
  readonly #open = new Set<string>();
  readonly #working = new Set<string>();

  constructor(definition: TeamDefinition, state: SessionState, artifacts: Artifacts) {
    this.#state = state;
    this.#readings = new Readings(definition, state);
    this.#trees = new SessionTrees(artifacts, definition, state, this.#readings);
  }

  async plan(phase: PhaseDefinition): Promise<PlannedPersona[]> {
    const { name, personas } = phase;
    const state = phaseOf(this.#state, name);
    if (isAccepted(state))
      return personas.map((persona) => ({ phase: name, persona: persona.name, action: "kept" }));
    const planned: PlannedPersona[] = [];
    const { clashes, ...start } = await this.#trees.before(phase);
    state.clashes = clashes.map(({ text }) => text);
    let merged: MergedTree = { ...start, conflicts: [] };
    for (const group of groupsOf(phase)) {
      const start = merged.tree;
      for (const persona of group) {
        const action = await this.#planPersona(phase, persona, start);
        planned.push({ phase: name, persona: persona.name, action });
        if (action === "runs" || action === "may-run") this.#working.add(`${name} ${persona.name}`);
      }
      for (const persona of group) {
        const { base, tree, result } = personaOf(this.#state, name, persona.name);
        if (result !== undefined) merged = await this.#trees.merge(base, merged, tree);
      }
    }
    if (planned.some(({ action }) => action === "runs" || action === "may-run")) this.#open.add(name);
    else state.status = "completed";
    state.tree = (await this.#trees.withEdit(name, merged.tree)).tree;
    return planned;
  }

  async #planPersona(
    phase: PhaseDefinition,
    persona: PersonaDefinition,
    start: string | undefined,
  ): Promise<PlannedAction> {
    const state = personaOf(this.#state, phase.name, persona.name);
    if (state.result !== undefined) return "kept";
    const { tree } = await this.#trees.visible(phase, persona, start);
    const same = state.candidate?.input === this.#readings.input(phase, persona, tree);
    if (this.#restsOnWork(phase, persona)) return state.candidate?.result === undefined ? "runs" : "may-run";
    if (!same) return "runs";
    imagine(this.#state, {
      kind: "persona.reused",
      phase: phase.name,
      persona: persona.name,
      input: state.candidate?.input ?? "",
    });
    return "reused";
  }

  #restsOnWork(phase: PhaseDefinition, persona: PersonaDefinition): boolean {
    if (persona.consumes === null) return phase.dependsOn.some((name) => this.#open.has(name));
    return this.#readings
      .providers(phase, persona)
      .some(({ phase, persona: { name } }) => this.#working.has(`${phase} ${name}`));
  }
}

/** A row that nobody wrote. */
export function imagine(state: SessionState, transition: Transition): void {
  const seq = state.head.seq + 1;
  applyRecorded(state, { ...encodeEntry(transition), seq, position: 0, epoch: 0, at: 0, hash: "" });
}
