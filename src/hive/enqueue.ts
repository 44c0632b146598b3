import { LeaseHeld } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Entry } from "../domain/journal.ts";
import { readState } from "../state/session-journal.ts";
import type { Team } from "../team/define.ts";
import { directionRows } from "../team/direction.ts";
import { canceled, requireSession } from "../team/drivable.ts";
import { type Preparation, prepareClaimed, prepareDrive } from "../team/prepare.ts";
import type { HiveParts } from "./hive-parts.ts";

/** Who has just stopped still writes its last files, or a word is acted upon: soon its lease is free. */
const patienceMs = 5_000;
const retryMs = 25;

/** As `enqueueNow`; waits for whoever holds the session without driving it. */
export async function enqueue(...asked: Parameters<typeof enqueueNow>): Promise<void> {
  const [id, , , , { store, clock }] = asked;
  const latest = clock.now() + patienceMs;
  for (;;) {
    try {
      return await enqueueNow(...asked);
    } catch (error) {
      if (!LeaseHeld.is(error) || clock.now() >= latest) throw error;
      if ((await store.findSession(id))?.status === "running") throw error;
    }
    await clock.sleep(retryMs);
  }
}

/**
 * Puts on record what a person wants and lets the session wait for its turn: whoever drives it next goes on from there,
 * also after a crash. `resume` grants what a person's resume grants.
 */
async function enqueueNow(
  id: SessionId,
  team: Team,
  cause: "start" | "resume",
  preparation: Preparation,
  { store, artifacts, engine, clock }: Pick<HiveParts, "store" | "artifacts" | "engine" | "clock">,
): Promise<void> {
  await requireSession(store, id);
  const before = await readState(store, id);
  const { seq } = before.head;
  const first = await prepareDrive(before, team, preparation, { artifacts, store });
  const { lease } = await store.claimSession(id, cause);
  let isCanceled = false;
  try {
    const state = await readState(store, id, before);
    // Said before the claim and not yet acted upon; a status row would forget it.
    isCanceled = state.status === "canceled" || state.messages.some(({ say }) => say === "cancel");
    if (!isCanceled) {
      const append = (row: Entry) => store.append(lease, [row], {});
      const prepared = await prepareClaimed({ prepared: first, seq }, state, team, preparation, {
        artifacts,
        store,
        append,
      });
      const rows: Entry[] = [
        ...prepared.rows,
        ...directionRows(state.direction, prepared.direction),
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
