import { advise, type Notify } from "../domain/advice.ts";
import { SessionConflict } from "../domain/errors.ts";
import { readState } from "../store/session-journal.ts";
import type { SessionRecord, Store } from "../store/store.ts";
import { changedPersonas } from "../team/definition/changes.ts";
import type { TeamDefinition } from "../team/definition/team-definition.ts";
import type { Asked } from "./active-drive.ts";
import { refuseUnknown } from "./selection.ts";

/** Nothing is left to drive in a completed session; what is asked of it in vain is refused, or at least said. */
export async function refuseToCompleted(
  { id, teamFingerprint }: SessionRecord,
  { team, preparation: { direction = {}, acceptChanges = false } }: Asked,
  { store, report }: { readonly store: Store; readonly report: Notify },
): Promise<void> {
  refuseUnknown(team.definition, direction);
  if (teamFingerprint === team.fingerprint) return;
  const before = (await readState(store, id)).created.definition as unknown as TeamDefinition;
  const at = changedPersonas(before, team.definition)[0]?.phase ?? team.definition.phases[0]?.name;
  const said = `Session ${id} is completed: the change of its team is not applied.`;
  const advice = advise(
    "Use the changed team in a new session",
    "fork",
    id,
    "--at",
    at ?? "<phase>",
    "--team",
    "<file>",
  );
  if (!acceptChanges) return report(said, [advice]);
  throw new SessionConflict(said, { details: { session: id }, advice });
}
