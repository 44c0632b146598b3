import { newSessionId } from "../domain/ids.ts";
import type { Direction } from "../journal/journal.ts";
import { emptyState } from "../journal/session-state.ts";
import { withPhase } from "../journal/update.ts";
import { selectPhases } from "../run/selection.ts";
import type { Team } from "../team/define.ts";

/** A direction that cannot be gone is refused before there is a session that somebody could take up. */
export function refuseImpossibleStart(
  { definition }: Team,
  direction: Direction,
  given: readonly string[],
): void {
  const state = given.reduce(
    (known, name) => withPhase(known, name, { status: "completed" }),
    emptyState(newSessionId()),
  );
  selectPhases(definition, state, direction);
}
