import type { Json } from "../domain/json.ts";
import { plannedPhases } from "./planned.ts";
import type { PersonaCandidate, PersonaState, PhaseState, SessionState } from "./session-state.ts";
import { staysGiven } from "./session-state.ts";
import type { StepSelection } from "./step-selection.ts";
import { mapPersonas } from "./update.ts";
import type { FilesEdit } from "./values.ts";

/** The phases that a reviewer's signal concerns: the named one, or all that await review. */
export function awaiting({ phases }: SessionState, name?: string): [string, PhaseState][] {
  return [...phases].filter(
    ([phase, { review }]) => review === "awaiting" && (name === undefined || phase === name),
  );
}

/** All changes by people to the files of a phase so far. */
export function editOf(phase: PhaseState, tree: string | undefined): FilesEdit | undefined {
  const base = phase.edit === undefined ? phase.tree : phase.edit.base;
  if (base === tree) return undefined;
  return { ...(base !== undefined && { base }), ...(tree !== undefined && { tree }) };
}

/** A new revision of the phase, to run again. */
function reopen(phase: PhaseState): PhaseState {
  return {
    ...phase,
    status: "pending",
    review: "none",
    revision: phase.revision + 1,
    groups: new Map(),
    completedAt: undefined,
    checkpoint: undefined,
    source: { kind: "work" },
    personas: mapPersonas(phase, (persona) => ({
      ...persona,
      reused: false,
      reopened: undefined,
      roundsUsedBefore: persona.attempts.at(-1)?.round ?? 0,
    })),
  };
}

/** Reruns the phase with the note, on the files it left. */
export function rejectPhase(phase: PhaseState, note: string): PhaseState {
  const reopened = reopen(phase);
  return {
    ...reopened,
    notes: [...phase.notes, note],
    personas: mapPersonas(reopened, (persona) => ({
      ...persona,
      result: undefined,
      candidate: undefined,
      leftover: [],
      beginning: { own: { base: persona.base, tree: persona.tree } },
    })),
  };
}

/** Reruns the phase. Earlier results become candidates, reused if their input is still equal. */
export function resetPhase(phase: PhaseState): PhaseState {
  const reopened = reopen(phase);
  return {
    ...reopened,
    personas: mapPersonas(reopened, (persona, name) => {
      // After a clash, the initial files contain work of others, who may now produce something else.
      const clashed = phase.personas.get(name)?.reopened !== undefined;
      const beginning = clashed ? undefined : persona.beginning;
      const { result, input } = persona;
      // Unfinished work continues if its input is equal, which is known when it starts.
      if (result === undefined || input === undefined) return { ...persona, beginning };
      return { ...persona, result: undefined, beginning: undefined, candidate: candidateOf(persona, []) };
    }),
  };
}

/** The result of a persona, with all steps that led to it. */
export function candidateOf(persona: PersonaState, spent: PersonaCandidate["spent"]): PersonaCandidate {
  const { input, result, base, tree, checks } = persona;
  return { input, result, base, tree, checks, spent, steps: stepsOfAll(persona) };
}

/** Steps of every attempt and of earlier candidates. */
export function stepsOfAll({ attempts, candidate }: PersonaState): readonly StepSelection[] {
  const own = attempts.map(({ started, endedSeq }) => ({
    attempt: started,
    until: endedSeq,
    except: [],
    outages: false,
  }));
  const known = new Set(own.map(({ attempt }) => attempt));
  return [...(candidate?.steps ?? []).filter(({ attempt }) => !known.has(attempt)), ...own];
}

/** The phases under an accepted definition. */
export function changeTeam(
  state: SessionState,
  { definition, reset }: { readonly definition: Json; readonly reset: readonly string[] },
): Pick<SessionState, "phases" | "removed"> {
  const planned = new Map(plannedPhases(definition).map((phase) => [phase.name, phase]));
  const phases = new Map<string, PhaseState>();
  const removed = new Map(state.removed);
  for (const [name, phase] of state.phases) (planned.has(name) ? phases : removed).set(name, phase);
  for (const [name, { personas }] of planned) {
    const before = removed.get(name);
    removed.delete(name);
    // A phase that returns without a reset starts from nothing.
    if (before !== undefined && reset.includes(name)) phases.set(name, before);
    const phase = phases.get(name);
    if (phase !== undefined && reset.includes(name) && !staysGiven(phase, personas))
      phases.set(name, resetPhase(phase));
  }
  return { phases, removed };
}
