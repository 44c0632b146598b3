import { staysGiven } from "./from-outside.ts";
import type { Transition } from "./journal.ts";
import type { Json } from "./json.ts";
import { type PlannedPhase, plannedPhases } from "./planned.ts";
import { RecordedSteps } from "./recorded-steps.ts";
import { sendBack } from "./send-back.ts";
import type { PhaseState, SessionState } from "./session-state.ts";

/** The phases as an accepted definition leaves them. */
export function changePhases(
  state: SessionState,
  { definition, reset }: Extract<Transition, { kind: "team.changed" }>,
): void {
  const { phases, removed } = state;
  for (const [name, { personas }] of setAside(state, definition)) {
    const before = removed.get(name);
    removed.delete(name);
    // A row that does not name it began it from nothing.
    if (before !== undefined && reset.includes(name)) phases.set(name, before);
    const phase = phases.get(name);
    if (phase !== undefined && reset.includes(name) && !staysGiven(phase, personas))
      goThroughAgain(phase, name);
  }
}

/** What the team does not have any more is not done; gives the phases that it has. */
export function setAside(
  { phases, removed }: SessionState,
  definition: Json,
): ReadonlyMap<string, PlannedPhase> {
  const planned = new Map(plannedPhases(definition).map((phase) => [phase.name, phase]));
  for (const [name, phase] of phases) {
    if (planned.has(name)) continue;
    phases.delete(name);
    removed.set(name, phase);
  }
  return planned;
}

/** What a persona had becomes a candidate: taken over when its input turns out to be the same. */
export function goThroughAgain(phase: PhaseState, name: string): void {
  // What a clash left to begin with holds the work of others, and they may make something else now.
  for (const persona of phase.personas.values())
    if (persona.reopened !== undefined) persona.beginning = undefined;
  sendBack(phase);
  for (const [persona, state] of phase.personas) {
    const { result, input, base, tree, checks, attempts, candidate } = state;
    const worked = attempts.flatMap(({ started }) => (started > 0 ? [started] : []));
    const known = [...(candidate?.steps.owners ?? []), ...worked];
    // What somebody had only begun is gone on with if the input is the same: known when it is taken up.
    if (result === undefined || input === undefined) continue;
    state.candidate = {
      phase: name,
      persona,
      input,
      result,
      checks,
      ...(base !== undefined && { base }),
      ...(tree !== undefined && { tree }),
      // Whose input is another one now may still ask for the same again.
      steps: RecordedSteps.of([...new Set(known)]),
    };
    state.result = undefined;
    state.beginning = undefined;
  }
}
