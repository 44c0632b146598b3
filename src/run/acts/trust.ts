import { advise } from "../../domain/advice.ts";
import { NotTrusted } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { SessionState } from "../../journal/session-state.ts";
import { refuseOlderDatabase } from "../../store/newer-work.ts";
import { SessionFiles } from "../../store/session-files.ts";
import { readState } from "../../store/session-journal.ts";
import type { Store } from "../../store/store.ts";
import { recordedDefinition } from "../../team/definition/recorded.ts";
import { type Demand, demandsOf } from "../../team/demands.ts";
import type { OpenState } from "../drive.ts";
import { modelOf } from "../persona-work.ts";

/** A message has room for this many; `show` lists them all. */
const mostDemands = 10;

/** Everything that the team of a session would run, read and send. */
export async function demandsOfSession(id: SessionId, store: Store): Promise<readonly Demand[]> {
  return demandsOfState(await readState(store, id));
}

/** With the model that the session recorded: it is the one that is called. */
export function demandsOfState(state: SessionState): readonly Demand[] {
  const definition = recordedDefinition(state.created.definition);
  return demandsOf({ ...definition, model: modelOf({ definition }, state) ?? null });
}

/**
 * Refuses an imported session that no person has trusted: its brief, its instructions and its commands were written
 * elsewhere. Called before the claim, so that a refusal writes nothing.
 */
export async function refuseUntrusted(id: SessionId, store: Store): Promise<void> {
  if (await isUntrusted(id, store)) refuseUntrustedState(await readState(store, id));
}

/** The same, where the state is known: also a decision and a delivery act on what a stranger wrote. */
export function refuseUntrustedState(state: SessionState): void {
  if (state.imported !== "untrusted") return;
  const { id } = state;
  const demands = demandsOfState(state).map(({ sentence }) => sentence);
  const shown = demands.slice(0, mostDemands).join("; ");
  const more = demands.length > mostDemands ? `; and ${demands.length - mostDemands} more` : "";
  throw new NotTrusted(
    `Session ${id} was imported, and no person has trusted it. If it runs: ${shown}${more}.`,
    {
      details: { session: id, demands },
      advice: [advise("Look at it", "show", id), advise("If you trust it, run it", "resume", id, "--trust")],
    },
  );
}

/** Records that a person lets an imported session run. Does nothing for any other session. */
export async function trustSession(
  id: SessionId,
  { store, stateDirectory }: Pick<OpenState, "store" | "stateDirectory">,
): Promise<void> {
  if (!(await isUntrusted(id, store))) return;
  const demands = (await demandsOfSession(id, store)).map(({ sentence }) => sentence);
  await refuseOlderDatabase(id, { store, stateDirectory });
  const { lease } = await store.claimSession(id, "signal");
  try {
    await store.append(lease, [{ kind: "session.trusted", demands }]);
  } finally {
    await store.releaseSession(lease);
  }
  await new SessionFiles(stateDirectory, id).markImport({ trusted: true });
}

async function isUntrusted(id: SessionId, store: Store): Promise<boolean> {
  const [listed] = await store.reports.listed([id]);
  // Without a card the journal is read.
  return listed?.card?.isUntrusted ?? (await readState(store, id)).imported === "untrusted";
}
