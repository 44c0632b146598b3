import type { PhaseState } from "./session-state.ts";

/** A new revision; its history stays. */
export function sendBack(phase: PhaseState): void {
  phase.status = "pending";
  phase.review = "none";
  phase.revision += 1;
  phase.groups.clear();
  phase.completed = undefined;
  phase.checkpoint = undefined;
  phase.source = { kind: "work" };
  for (const persona of phase.personas.values()) {
    persona.reused = false;
    persona.inheritance = undefined;
    persona.reopened = undefined;
    persona.roundsUsedBefore = persona.attempts.at(-1)?.round ?? 0;
  }
}

/** Runs again with the note, on the files it left. */
export function reject(phase: PhaseState, note: string): void {
  sendBack(phase);
  phase.notes.push(note);
  for (const persona of phase.personas.values()) {
    const { base, tree } = persona;
    persona.result = undefined;
    persona.candidate = undefined;
    persona.beginning = { own: { base, tree } };
  }
}
