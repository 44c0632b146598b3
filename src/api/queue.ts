import { LeaseHeld } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Entry } from "../journal/journal.ts";
import { byPerson } from "../run/acting-person.ts";
import { refuseUntrusted } from "../run/acts/trust.ts";
import { directionRows } from "../run/direction.ts";
import { canceled, type Preparation, prepareClaimed, prepareDrive, requireSession } from "../run/prepare.ts";
import { refuseUnconfinedDrive } from "../run/programs/refuse-unconfined.ts";
import { continueReplay, replaySession } from "../store/session-journal.ts";
import type { Team } from "../team/define.ts";
import type { Services } from "./services.ts";

/** The lease of a stopping driver, or of a process that applies a signal, is soon free. */
const patienceMs = 5_000;
const retryMs = 25;

/** Like `enqueueNow`, but waits while the lease is held by a process that does not drive the session. */
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
 * Queues an existing session: records the request and makes the session due. The next driver continues from there, also
 * after a crash. `resume` grants new rounds.
 */
async function enqueueNow(
  id: SessionId,
  team: Team,
  cause: "start" | "resume",
  preparation: Preparation,
  {
    store,
    artifacts,
    engine,
    clock,
    sandbox,
  }: Pick<Services, "store" | "artifacts" | "engine" | "clock" | "sandbox">,
): Promise<void> {
  await requireSession(store, id);
  await refuseUntrusted(id, store);
  await engine.refuseOlderDatabase(id);
  await refuseUnconfinedDrive(id, team, preparation, { store, sandbox });
  const before = await replaySession(store, id);
  const { seq } = before.state.head;
  const first = await prepareDrive(before.state, team, preparation, artifacts);
  const { lease } = await store.claimSession(id, cause);
  let isCanceled = false;
  try {
    const { state } = await continueReplay(store, before);
    // A cancel before the claim may not be applied yet, and a new status row would drop it.
    isCanceled =
      state.standing.status === "canceled" || state.signals.some(({ action }) => action === "cancel");
    if (!isCanceled) {
      const append = (row: Entry) => store.append(lease, [row], {});
      const prepared = await prepareClaimed({ ...first, seq }, state, team, preparation, artifacts, append);
      const rows: Entry[] = [
        ...prepared.rows,
        ...directionRows(state.direction, prepared.direction),
        { kind: "session.status", status: "queued", wakeAt: clock.now(), ...byPerson() },
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

/** Serializes async work per key. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(name: string | undefined, work: () => Promise<T>): Promise<T> {
    if (name === undefined) return work();
    const before = this.#last.get(name) ?? Promise.resolve();
    // An error of the previous work belongs to its own caller.
    const mine = before.catch(() => undefined).then(work);
    this.#last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name);
    }
  }
}
