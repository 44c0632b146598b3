import type { OfAttempt } from "./journal.ts";
import {
  type AttemptState,
  type PersonaState,
  type PhaseState,
  personaOf,
  phaseOf,
  type RunningAttempt,
  type SessionState,
} from "./session-state.ts";

/** The state with one phase changed. */
export function withPhase(state: SessionState, name: string, change: Partial<PhaseState>): SessionState {
  return { ...state, phases: new Map(state.phases).set(name, { ...phaseOf(state, name), ...change }) };
}

export function withPersona(
  state: SessionState,
  { phase, persona }: { readonly phase: string; readonly persona: string },
  change: Partial<PersonaState>,
): SessionState {
  const { personas } = phaseOf(state, phase);
  const changed = { ...personaOf(state, phase, persona), ...change };
  return withPhase(state, phase, { personas: new Map(personas).set(persona, changed) });
}

/** The persona's attempts with one of them changed. */
export function changeAttempt(
  { attempts }: PersonaState,
  started: number,
  change: Partial<AttemptState>,
): readonly AttemptState[] {
  return attempts.map((attempt) => (attempt.started === started ? { ...attempt, ...change } : attempt));
}

export function withRunning(state: SessionState, running: RunningAttempt): SessionState {
  return { ...state, running: new Map(state.running).set(running.started, running) };
}

export function withoutRunning(state: SessionState, { started }: Pick<OfAttempt, "started">): SessionState {
  const running = new Map(state.running);
  running.delete(started);
  return { ...state, running };
}

export function mapPersonas(
  { personas }: PhaseState,
  change: (persona: PersonaState, name: string) => PersonaState,
): ReadonlyMap<string, PersonaState> {
  return new Map([...personas].map(([name, persona]) => [name, change(persona, name)]));
}
