import type { RecordedRow, Transition } from "./journal.ts";
import { RecordedSteps } from "./recorded-steps.ts";
import {
  type AttemptState,
  type PersonaState,
  personaOf,
  phaseOf,
  type RunningAttempt,
  type SessionState,
} from "./session-state.ts";

/** Its first row; what an outage left of the one before is its own from now on. */
export function beginAttempt(
  state: SessionState,
  entry: Extract<Transition, { kind: "attempt.started" }>,
  { seq, at }: RecordedRow,
): void {
  const { round, attempt, input, base } = entry;
  const persona = personaOf(state, entry.phase, entry.persona);
  const interrupted = giveUp(state, persona, at);
  const begun: AttemptState = {
    started: seq,
    phase: entry.phase,
    persona: entry.persona,
    round,
    attempt,
    input,
    startedAt: at,
    continues: entry.continues,
    revision: phaseOf(state, entry.phase).revision,
    base,
    tree: entry.tree ?? base,
    settings: entry.settings ?? {},
    checks: [],
    healing: [],
    status: "running",
    hasProgressed: false,
    endedAt: undefined,
    failure: undefined,
    next: undefined,
  };
  persona.attempts.push(begun);
  const inherited = entry.continues === undefined ? undefined : persona.inheritance;
  // Nobody goes on with what was done for another input; but what it paid for is paid.
  const given = interrupted?.steps ?? persona.inheritance;
  if (inherited === undefined && given !== undefined)
    persona.leftover = given.leave(persona.leftover, { functions: interrupted?.isClean === true });
  persona.inheritance = undefined;
  const isClean = persona.reopened === undefined && persona.beginning === undefined;
  state.running.set(seq, { persona, attempt: begun, steps: inherited ?? new RecordedSteps(), isClean });
}

/** The attempt under way, if there is one, will not be gone on with. */
export function giveUp(
  state: SessionState,
  { attempts }: PersonaState,
  at: number,
): RunningAttempt | undefined {
  const last = attempts.at(-1);
  if (last?.status !== "running") return undefined;
  last.status = "failed";
  last.endedAt = at;
  return endAttempt(state, last.started);
}

/** A person's resume grants one new set of rounds, numbered on; going on after a crash, by whatever command, grants none. */
export function grantRounds(state: SessionState): void {
  for (const phase of state.phases.values()) {
    for (const persona of phase.personas.values()) {
      const last = persona.attempts.at(-1);
      if (last?.status === "failed") persona.roundsUsedBefore = last.round;
    }
  }
}

export function endAttempt(state: SessionState, started: number): RunningAttempt {
  const running = state.running.get(started);
  if (running === undefined)
    throw new Error(`journal of session ${state.id} ends an attempt that does not run: ${started}`);
  state.running.delete(started);
  return running;
}
