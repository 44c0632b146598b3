import { type Position, startPosition } from "../domain/cursor.ts";
import { LeaseHeld, LeaseLost, SessionNotFound } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { endsDrive } from "../journal/facts.ts";
import { resultsOf } from "../journal/view.ts";
import type { Outcome } from "../run/driver.ts";
import { readState } from "../store/session-journal.ts";
import type { Team } from "../team/define.ts";
import { Scheduler } from "./scheduler.ts";
import type { Services } from "./services.ts";

/** How often the journal is read for changes that other processes make to a session. */
const everyMs = 1_000;
const page = 1_000;

interface Awaited {
  readonly team: Team;
  wakeAt: number;
  /** The results when its driver released it. */
  results: Outcome["results"];
  readonly ended: PromiseWithResolvers<Outcome>;
}

/**
 * Sessions without a driver whose result this process awaits: they rest, or wait for a place. Each costs one entry
 * here and its row, but no timer and no driver. This process takes them again itself, unless another one is faster.
 */
export class RestingSessions {
  readonly #services: Services;
  readonly #scheduler: Scheduler;
  readonly #awaited = new Map<SessionId, Awaited>();
  /** Aborted when an earlier wake-up is needed. */
  #sleep: { readonly until: number; readonly abort: AbortController } | undefined;
  #poll: NodeJS.Timeout | undefined;
  #position: Position | undefined;
  #looking: Promise<void> | undefined;

  constructor(services: Services) {
    this.#services = services;
    const { engine, store, clock, limits, onNotice } = services;
    this.#scheduler = new Scheduler({
      journal: {
        wakeups: store.wakeups,
        take: async (...asked) => (this.#awaited.size === 0 ? 0 : store.take(...asked)),
      },
      engine: {
        isDriving: (id) => engine.isDriving(id),
        refuseOlderDatabase: (id) => engine.refuseOlderDatabase(id),
        driveTaken: (...taken) => this.#driving(taken[0], engine.driveTaken(...taken)),
      },
      clock,
      limits,
      // A process that starts sessions itself decides how many run at once.
      places: Number.POSITIVE_INFINITY,
      teamOf: async ({ id }) => this.#awaited.get(id)?.team,
      deliverTickets: async () => undefined,
      report: onNotice,
    });
  }

  /** Resolves when the session ends, whichever process drives it. `wakeAt`: when it can be taken. */
  async untilEnd(
    id: SessionId,
    team: Team,
    { wakeAt, results }: Pick<Awaited, "wakeAt" | "results">,
  ): Promise<Outcome> {
    const { store } = this.#services;
    this.#position ??= await store.reports.position();
    const known = this.#awaited.get(id);
    const awaited = known ?? { team, wakeAt, results, ended: Promise.withResolvers<Outcome>() };
    Object.assign(awaited, { wakeAt, results });
    this.#awaited.set(id, awaited);
    // The session may have changed before its rows were followed.
    if (known === undefined) await this.#look(id).catch((error: unknown) => this.#fail(id, error));
    this.#poll ??= setInterval(() => this.look(), everyMs);
    await this.#scheduler.start();
    this.#scheduler.tryAgain(id);
    this.#sleepUntil(wakeAt);
    return awaited.ended.promise;
  }

  /** Call this when a session may have changed: reads it now. */
  look(): void {
    if (this.#awaited.size === 0) return;
    this.#looking ??= this.#follow()
      .catch((error: unknown) => this.#services.onNotice(String(error)))
      .finally(() => {
        this.#looking = undefined;
      });
  }

  /** The process ends. The next one takes the sessions. */
  async stop(): Promise<void> {
    clearInterval(this.#poll);
    this.#sleep?.abort.abort();
    for (const [id, { results }] of this.#awaited)
      this.#end(id, { status: "running", ...(results !== undefined && { results }) });
    await this.#scheduler.stop();
    await this.#looking;
  }

  async #driving(id: SessionId, drive: Promise<Outcome>): Promise<Outcome> {
    try {
      const outcome = await drive;
      if (outcome.status !== "running") this.#end(id, outcome);
      else if ("wakeAt" in outcome) this.#restAgain(id, { wakeAt: outcome.wakeAt, results: outcome.results });
      return outcome;
    } catch (error) {
      if (LeaseHeld.is(error) || LeaseLost.is(error) || !this.#awaited.has(id)) throw error;
      // The caller that awaits the result gets the error.
      this.#fail(id, error);
      return { status: "running" };
    }
  }

  #restAgain(id: SessionId, { wakeAt, results }: Pick<Awaited, "wakeAt" | "results">): void {
    const awaited = this.#awaited.get(id);
    if (awaited === undefined) return;
    Object.assign(awaited, { wakeAt, results });
    this.#sleepUntil(wakeAt);
  }

  /** Reads the rows that any process has written since the last read. */
  async #follow(): Promise<void> {
    const { reports } = this.#services.store;
    for (;;) {
      const changes = await reports.changes(this.#position ?? startPosition, page);
      const ids = new Set(changes.filter(endsDrive).map(({ id }) => id));
      for (const id of ids) if (this.#awaited.has(id)) await this.#look(id);
      this.#position = changes.at(-1)?.position ?? this.#position;
      if (changes.length < page) return;
    }
  }

  async #look(id: SessionId): Promise<void> {
    const { store, engine } = this.#services;
    if (engine.isDriving(id)) return;
    const session = await store.findSession(id);
    if (session === undefined) return this.#fail(id, new SessionNotFound(`Session ${id} was deleted.`));
    const { status, wakeAt } = session;
    if (status === "running" || (status === "queued" && wakeAt !== undefined)) return;
    const state = await readState(store, id);
    this.#end(id, { ...state.standing, tickets: state.tickets, results: resultsOf(state) });
  }

  #end(id: SessionId, outcome: Outcome): void {
    this.#awaited.get(id)?.ended.resolve(outcome);
    this.#forget(id);
  }

  #fail(id: SessionId, error: unknown): void {
    this.#awaited.get(id)?.ended.reject(error);
    this.#forget(id);
  }

  #forget(id: SessionId): void {
    this.#awaited.delete(id);
    if (this.#awaited.size > 0) return;
    clearInterval(this.#poll);
    this.#poll = undefined;
    this.#position = undefined;
    this.#sleep?.abort.abort();
    this.#sleep = undefined;
  }

  /** Sets one timer for all sessions, at the earliest due time. */
  #sleepUntil(until: number): void {
    if (this.#sleep !== undefined && this.#sleep.until <= until) return;
    this.#sleep?.abort.abort();
    const { clock } = this.#services;
    const sleep = { until, abort: new AbortController() };
    this.#sleep = sleep;
    clock.sleep(until - clock.now(), sleep.abort.signal).then(
      () => {
        this.#sleep = undefined;
        this.#scheduler.look();
        const now = clock.now();
        const later = [...this.#awaited.values()].map(({ wakeAt }) => wakeAt).filter((at) => at > now);
        if (later.length > 0) this.#sleepUntil(later.reduce((one, other) => Math.min(one, other)));
      },
      () => undefined,
    );
  }
}
