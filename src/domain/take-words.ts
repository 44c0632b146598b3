import type { ForkOrigin } from "./journal.ts";
import { type PhaseState, phaseOf, type SessionState } from "./session-state.ts";
import type { WordsOfPhase } from "./words-of-phase.ts";

/** Nothing where nobody said anything. */
export function wordsOf(name: string, phase: PhaseState | undefined): readonly WordsOfPhase[] {
  const { notes = [], edit } = phase ?? {};
  if (notes.length === 0 && edit === undefined) return [];
  return [{ phase: name, ...(notes.length > 0 && { notes: [...notes] }), ...(edit && { edit }) }];
}

/** With a fork from its start: it must not depend on rows that a lost database takes along. */
export function takeWords(state: SessionState, fork: ForkOrigin | undefined): void {
  for (const { phase: name, notes = [], edit } of fork?.words ?? []) {
    const phase = phaseOf(state, name);
    phase.notes = [...notes];
    phase.edit = edit;
  }
}
