import type { RecordedRow } from "./row.ts";
import {
  type AttemptState,
  attemptOf,
  type PersonaState,
  type PhaseState,
  personaOf,
  phaseOf,
  type RunningAttempt,
  type SessionState,
} from "./session-state.ts";
import type { OfAttempt } from "./values.ts";

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

/** Abandons the running attempt, if any. It will not continue. */
export function giveUp(
  state: SessionState,
  of: { readonly phase: string; readonly persona: string },
  { seq, at }: Pick<RecordedRow, "seq" | "at">,
): {
  readonly state: SessionState;
  readonly interrupted: RunningAttempt | undefined;
  readonly given: RunningAttempt["replays"] | undefined;
} {
  const persona = personaOf(state, of.phase, of.persona);
  const last = persona.attempts.at(-1);
  if (last?.status !== "running") return { state, interrupted: undefined, given: undefined };
  const interrupted = state.running.get(last.started);
  const attempts = changeAttempt(persona, last.started, { status: "failed", endedAt: at, endedSeq: seq });
  return {
    state: withPersona(withoutRunning(state, last), of, { attempts }),
    interrupted,
    given: interrupted?.replays,
  };
}

/** A person's resume grants one new set of rounds. Recoveries grant none. */
export function grantRounds(state: SessionState): SessionState {
  let granted = state;
  for (const [phase, { personas }] of state.phases) {
    for (const [persona, { attempts }] of personas) {
      const last = attempts.at(-1);
      if (last?.status === "failed")
        granted = withPersona(granted, { phase, persona }, { roundsUsedBefore: last.round });
    }
  }
  return granted;
}

/** The attempt that the row ends, which must be running. */
export function endingAttempt(
  state: SessionState,
  of: OfAttempt,
): { readonly persona: PersonaState; readonly attempt: AttemptState; readonly running: RunningAttempt } {
  const running = state.running.get(of.started);
  const attempt = attemptOf(state, of);
  if (running === undefined || attempt === undefined)
    throw new Error(`the journal of session ${state.id} ends attempt ${of.started}, which is not running`);
  return { persona: personaOf(state, of.phase, of.persona), attempt, running };
}
