import type { SessionState } from "../journal/session-state.ts";
import type { PhaseOrder } from "../team/definition/order.ts";

/**
 * Whether the files that a phase left are those of all phases before it as well. What came from outside began with the
 * files that were there then: phases that work before it later, or that a changed team puts there, are not in them.
 */
export function handsOnEverything({ phases }: PhaseOrder, state: SessionState): boolean {
  return phases.every(({ name, dependsOn: [before, ...others] }) => {
    const phase = state.phases.get(name);
    if (phase === undefined || phase.source.kind === "work") return true;
    if (others.length > 0) return false;
    return phase.base === (before === undefined ? undefined : state.phases.get(before)?.tree);
  });
}
