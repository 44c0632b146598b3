import { SessionCanceled, SessionNotFound } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Direction, Entry } from "../domain/journal.ts";
import type { SessionState } from "../domain/session-state.ts";
import { readState } from "../state/session-journal.ts";
import type { Team } from "../team/define.ts";
import { type Preparation, prepareDrive } from "../team/prepare.ts";
import type { HiveParts } from "./hive-parts.ts";

/**
 * Puts on record what a person wants and lets the session wait for its turn: whoever drives it next goes on from there,
 * also after a crash. `resume` grants what a person's resume grants.
 */
export async function enqueue(
  id: SessionId,
  team: Team,
  cause: "start" | "resume",
  preparation: Preparation,
  { store, artifacts, engine, clock }: Pick<HiveParts, "store" | "artifacts" | "engine" | "clock">,
): Promise<void> {
  const session = await store.findSession(id);
  if (session === undefined) throw new SessionNotFound(`There is no session ${id}.`);
  if (session.status === "canceled") throw canceled(id);
  const prepared = await prepareDrive(session, team, preparation, { store, artifacts });
  const { lease } = await store.claimSession(id, cause);
  let isCanceled = false;
  try {
    const state = await readState(store, id);
    // Said before the claim and not yet acted upon; a status row would forget it.
    isCanceled = state.status === "canceled" || state.messages.some(({ say }) => say === "cancel");
    if (!isCanceled) {
      const rows: Entry[] = [
        ...prepared.rows,
        ...directed(state, prepared.direction),
        { kind: "session.status", status: "queued", wakeAt: clock.now() },
      ];
      await store.append(lease, rows, { artifacts: prepared.artifacts });
    }
  } finally {
    await store.releaseSession(lease);
  }
  if (!isCanceled) return;
  await engine.settle(id);
  throw canceled(id);
}

/** Where to pause was said for the whole session; how far to go, for one drive. */
function directed({ direction }: SessionState, wanted: Direction | undefined): Entry[] {
  const { pauseAfter } = direction;
  const next = wanted ?? (pauseAfter === undefined ? {} : { pauseAfter });
  return JSON.stringify(next) === JSON.stringify(direction) ? [] : [{ kind: "session.directed", ...next }];
}

function canceled(id: SessionId): SessionCanceled {
  return new SessionCanceled(`Session ${id} was canceled; that is final.`, {
    details: { session: id },
    advice: "Start a new session, or fork this one.",
  });
}
