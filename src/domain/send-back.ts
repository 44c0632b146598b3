import type { PhaseState, SessionState } from "./session-state.ts";
import type { FilesEdit } from "./words-of-phase.ts";

/** The phases that a reviewer's word is about: the one named, or all that wait. */
export function awaiting({ phases }: SessionState, name?: string): PhaseState[] {
  const meant = name === undefined ? [...phases.values()] : [phases.get(name)];
  return meant.filter((phase) => phase !== undefined).filter(({ review }) => review === "awaiting");
}

/** All that people changed in the files of a phase, until now. */
export function editOf(phase: PhaseState, tree: string | undefined): FilesEdit | undefined {
  const base = phase.edit === undefined ? phase.tree : phase.edit.base;
  if (base === tree) return undefined;
  return { ...(base !== undefined && { base }), ...(tree !== undefined && { tree }) };
}

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
    persona.leftover = undefined;
    persona.beginning = { own: { base, tree } };
  }
}
