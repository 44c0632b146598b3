import { ConfigInvalid } from "../domain/errors.ts";
import { isAccepted } from "../journal/session-state.ts";
import { readState } from "../store/session-journal.ts";
import type { SessionRecord, Store } from "../store/store.ts";
import type { Team } from "../team/define.ts";
import { selectPhases } from "./direction.ts";
import type { EngineSettings } from "./drive.ts";

/**
 * Refuses a session with a model that this process cannot call. Only the phases that a drive would still run count;
 * the history, which may be long, is read only if a model is missing.
 */
export async function refuseUnreachable(
  { id, model }: Pick<SessionRecord, "id" | "model">,
  team: Team,
  { store, proveModels }: { readonly store: Store } & Pick<EngineSettings, "proveModels">,
): Promise<void> {
  try {
    await proveModels(team, model ?? undefined);
  } catch (error) {
    if (!ConfigInvalid.is(error)) throw error;
    const { definition } = team;
    const state = await readState(store, id);
    const phases = selectPhases(definition, state, state.direction).filter(
      ({ name }) => !isAccepted(state.phases.get(name)),
    );
    await proveModels({ ...team, definition: { ...definition, phases } }, model ?? undefined);
  }
}
