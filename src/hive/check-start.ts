import { newSessionId } from "../domain/ids.ts";
import type { Direction } from "../domain/journal.ts";
import { emptyState, phaseOf } from "../domain/session-state.ts";
import type { Team } from "../team/define.ts";
import { selectPhases } from "../team/selection.ts";

/** A direction that cannot be gone is refused before there is a session that somebody could take up. */
export function refuseImpossibleStart(
  { definition }: Team,
  direction: Direction,
  given: readonly string[],
): void {
  const state = emptyState(newSessionId());
  for (const name of given) phaseOf(state, name).status = "completed";
  selectPhases(definition, state, direction);
}
