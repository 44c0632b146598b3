import { advise, type Notify } from "../domain/advice.ts";
import type { Clock } from "../domain/clock.ts";
import { toErrorJson } from "../domain/error-json.ts";
import { LeaseHeld, LeaseLost, MaestroError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { TeamEngine } from "../run/engine.ts";
import type { SessionLimits } from "../store/decisions/limits.ts";
import type { Candidate, Claim } from "../store/journal.ts";
import type { SessionRecord } from "../store/session-record.ts";
import type { Store } from "../store/store.ts";
import type { Team } from "../team/define.ts";

const everyMs = 1_000;
/** Retrying every second would not help. It would only fill the journal with claims. */
const againMs = 60_000;
/** Wait when another process holds the session. */
const heldMs = 1_000;

export interface SchedulerParts {
  readonly journal: Pick<Store, "take" | "wakeups">;
  readonly engine: Pick<TeamEngine, "isDriving" | "driveTaken" | "refuseOlderDatabase">;
  readonly clock: Clock;
  /** Sessions driven at once. */
  readonly places: number;
  readonly limits: SessionLimits;
  /**
   * Undefined: another process may have the team. Throws: the session cannot be taken, for a reason that people
   * should read.
   */
  readonly teamOf: (session: SessionRecord) => Promise<Team | undefined>;
  readonly deliverTickets: () => Promise<unknown>;
  readonly report: Notify;
}

/** Assigns the places of this process to sessions that continue by themselves. The queue itself is in the store. */
export class Scheduler {
  readonly #parts: SchedulerParts;
  readonly #driving = new Map<SessionId, Promise<void>>();
  /** When to retry the sessions that could not be taken. */
  readonly #notBefore = new Map<SessionId, number>();
  /** The last reported reason, so that it is not repeated every minute. */
  readonly #reported = new Map<SessionId, string>();
  #timer: NodeJS.Timeout | undefined;
  #stopHearing: (() => void) | undefined;
  #round: Promise<void> | undefined;
  #isAskedAgain = false;
  #isStopped = false;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
  }

  get places(): number {
    return this.#parts.places;
  }

  get inUse(): number {
    return this.#driving.size;
  }

  /** The drive under way here, if any. */
  driveOf(id: SessionId): Promise<void> | undefined {
    return this.#driving.get(id);
  }

  /** Takes due sessions now and every second. */
  async start(): Promise<void> {
    this.#stopHearing ??= this.#parts.journal.wakeups.hear("due", () => this.look());
    this.#timer ??= setInterval(() => this.look(), everyMs).unref();
    this.look();
    await this.#round;
  }

  /** Fills free places now, if started. One round runs at a time; a call during a round causes another. */
  look(): void {
    if (this.#timer === undefined || this.#isStopped) return;
    if (this.#round !== undefined) {
      this.#isAskedAgain = true;
      return;
    }
    this.#round = this.#fillPlaces()
      .catch((error: unknown) => this.#parts.report(String(error)))
      .finally(() => {
        this.#round = undefined;
        if (!this.#isAskedAgain) return;
        this.#isAskedAgain = false;
        this.look();
      });
  }

  /** Runs one round and its drives, for tests and manual use. */
  async tick(): Promise<void> {
    await this.#fillPlaces();
    await Promise.all(this.#driving.values());
  }

  /** Retries a session immediately that could not be taken, because something about it has changed. */
  tryAgain(id: SessionId): void {
    this.#notBefore.delete(id);
    this.look();
  }

  /** Stops taking sessions. `Maestro.close` ends the drives under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#stopHearing?.();
    await this.#round;
  }

  async #fillPlaces(): Promise<void> {
    const { journal, places, limits, deliverTickets, report } = this.#parts;
    const free = places - this.#driving.size;
    if (free > 0) await journal.take(free, (candidate) => this.#consider(candidate), limits);
    // A tracker may be slow. No place depends on it, and stopping does not wait for it.
    void deliverTickets().catch((error: unknown) => {
      if (!this.#isStopped) report(String(error));
    });
  }

  async #consider({ session, isToDrive }: Candidate) {
    const { engine, clock, teamOf } = this.#parts;
    const { id } = session;
    const isBusy = () => this.#isStopped || this.#driving.has(id) || engine.isDriving(id);
    if (isBusy() || clock.now() < (this.#notBefore.get(id) ?? 0)) return undefined;
    try {
      await engine.refuseOlderDatabase(id);
      const team = isToDrive ? await teamOf(session) : undefined;
      if (isToDrive && team === undefined) this.#notBefore.set(id, clock.now() + againMs);
      else if (!isBusy()) return (claim: Promise<Claim>) => this.#drive(id, team, claim);
    } catch (error) {
      this.#failed(id, error);
      // Decided before the claim, so that the journal gets no row.
      if (MaestroError.is(error)) return { blocked: toErrorJson(error) };
    }
    return undefined;
  }

  #drive(id: SessionId, team: Team | undefined, claim: Promise<Claim>): void {
    const drive = this.#parts.engine
      .driveTaken(id, team, claim)
      .then(() => {
        this.#notBefore.delete(id);
        this.#reported.delete(id);
      })
      .catch((error: unknown) => this.#failed(id, error))
      .finally(() => {
        this.#driving.delete(id);
        this.look();
      });
    this.#driving.set(id, drive);
  }

  #failed(id: SessionId, error: unknown): void {
    const { clock, report } = this.#parts;
    // Another process was faster, which is fine.
    const isHeld = LeaseHeld.is(error) || LeaseLost.is(error);
    this.#notBefore.set(id, clock.now() + (isHeld ? heldMs : againMs));
    if (isHeld) return;
    const notice = `Session ${id} could not be resumed: ${String(error)} It is tried again every minute.`;
    if (this.#reported.get(id) === notice) return;
    this.#reported.set(id, notice);
    const own = MaestroError.is(error) ? error.actions : [];
    report(notice, [...own, advise("See it", "show", id)]);
  }
}
