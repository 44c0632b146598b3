import type { SessionId } from "../domain/ids.ts";
import type { ClaimCause } from "../journal/journal.ts";
import type { Outcome } from "../run/driver.ts";
import type { Preparation } from "../run/prepare.ts";
import { limitsOf } from "../store/decisions/limits.ts";
import type { Team } from "../team/define.ts";
import { enqueue } from "./queue.ts";
import { RestingSessions } from "./resting.ts";
import type { Services } from "./services.ts";

/** Drives sessions to their end for callers that await them. */
export class SessionDrives {
  readonly #services: Services;
  readonly #resting: RestingSessions;
  #isStopped = false;

  constructor(services: Services) {
    this.#services = services;
    this.#resting = new RestingSessions(services);
  }

  /**
   * A session under a limit waits for its turn, and a session in which everything waits has no driver. This process
   * takes both when they are due.
   */
  async toTheEnd(
    id: SessionId,
    team: Team,
    cause: ClaimCause,
    preparation: Preparation,
    onAccepted: (() => void) | undefined,
  ): Promise<Outcome> {
    const { engine, clock, onNotice } = this.#services;
    if (this.#mayBeLimited && !engine.isDriving(id) && (await this.#isLimited(id))) {
      const queued = enqueue(id, team, cause === "resume" ? "resume" : "start", preparation, this.#services);
      await engine.track(queued);
      onAccepted?.();
      onNotice(`Session ${id} waits for a place: limits apply to it.`);
      return this.#rest(id, team, { wakeAt: clock.now(), results: {} });
    }
    const outcome = await engine.drive(id, team, cause, preparation, onAccepted);
    const rests = outcome.status === "running" && "wakeAt" in outcome;
    return rests ? this.#rest(id, team, { wakeAt: outcome.wakeAt, results: outcome.results }) : outcome;
  }

  /** Call this when a session without a driver may have changed. */
  look(): void {
    this.#resting.look();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#resting.stop();
  }

  #rest(
    id: SessionId,
    team: Team,
    since: { readonly wakeAt: number; readonly results: Outcome["results"] },
  ): Promise<Outcome> {
    const { results = {} } = since;
    return this.#isStopped
      ? Promise.resolve({ status: "running", results })
      : this.#resting.untilEnd(id, team, since);
  }

  get #mayBeLimited(): boolean {
    return Object.values(this.#services.limits).some((named) => named !== undefined);
  }

  async #isLimited(id: SessionId): Promise<boolean> {
    const { store, limits } = this.#services;
    const session = await store.findSession(id);
    return session !== undefined && session.status !== "completed" && limitsOf(session, limits).length > 0;
  }
}
