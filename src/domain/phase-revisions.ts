import { goThroughAgain } from "./change-phases.ts";
import { type PhaseRevisions, phaseOf, type SessionState } from "./session-state.ts";

/** Those of all phases that are no longer at their first. */
export function revisionsNow(state: SessionState): PhaseRevisions {
  const later = [...state.phases].filter(([, { revision }]) => revision > 1);
  const isSame =
    later.length === Object.keys(state.revisions).length &&
    later.every(([name, { revision }]) => state.revisions[name] === revision);
  // A thousand phases that are done one after the other must not each have a list of their own.
  if (!isSame) state.revisions = Object.fromEntries(later.map(([name, { revision }]) => [name, revision]));
  return state.revisions;
}

/** When this was sealed, the phases it names had been sent back: what an earlier revision came to is only a candidate. */
export function setBack(
  state: SessionState,
  { phase: own, revisions = {} }: { readonly phase: string; readonly revisions?: PhaseRevisions },
): void {
  for (const [name, revision] of Object.entries(revisions)) {
    const phase = phaseOf(state, name);
    if (name === own || phase.revision >= revision) continue;
    if (phase.status === "completed") goThroughAgain(phase, name);
    phase.revision = revision;
  }
}
