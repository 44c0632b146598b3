import type { Clock } from "../domain/clock.ts";
import { LeaseHeld, LeaseLost, MaestroError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Maestro } from "../maestro.ts";

const everyMs = 1_000;
/** Trying again every second would not mend it, only fill its journal with claims. */
const againMs = 60_000;
/** Somebody else holds it at the moment. */
const heldMs = 1_000;

export interface DispatcherParts {
  readonly maestro: Maestro;
  readonly clock: Clock;
  /** Sessions driven at once. */
  readonly places: number;
  readonly report: (notice: string) => void;
}

/** Gives the places: what a crash left goes first, then whoever has waited longest. The queue itself is on disk. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #driving = new Map<SessionId, Promise<void>>();
  /** Sessions that could not be taken up, and when to try again. */
  readonly #notBefore = new Map<SessionId, number>();
  /** Why, as it was last said: nobody needs to read it every minute. */
  readonly #said = new Map<SessionId, string>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #isAskedAgain = false;
  #isStopped = false;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  get places(): number {
    return this.#parts.places;
  }

  get inUse(): number {
    return this.#driving.size;
  }

  /** The drive under way here, if there is one. */
  driveOf(id: SessionId): Promise<void> | undefined {
    return this.#driving.get(id);
  }

  start(): void {
    this.#timer ??= setInterval(() => this.look(), everyMs).unref();
    this.look();
  }

  /** Gives free places away now, if it has been started. One round at a time; who asks meanwhile gets another one. */
  look(): void {
    if (this.#timer === undefined || this.#isStopped) return;
    if (this.#round !== undefined) {
      this.#isAskedAgain = true;
      return;
    }
    this.#round = this.#look()
      .catch((error: unknown) => this.#parts.report(String(error)))
      .finally(() => {
        this.#round = undefined;
        if (!this.#isAskedAgain) return;
        this.#isAskedAgain = false;
        this.look();
      });
  }

  /** Tries again at once what could not be taken up: something about it has changed. */
  tryAgain(id: SessionId): void {
    this.#notBefore.delete(id);
    this.look();
  }

  /** Gives no place away any more; drives under way are ended by whoever closes Maestro. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#round;
  }

  async #look(): Promise<void> {
    const { maestro, places, clock } = this.#parts;
    if (this.#driving.size < places) {
      for (const id of await maestro.waiting()) {
        if (this.#isStopped || this.#driving.size >= places) break;
        if (this.#driving.has(id) || maestro.isDriving(id)) continue;
        if (clock.now() < (this.#notBefore.get(id) ?? 0)) continue;
        this.#take(id);
      }
    }
    // A tracker may take its time; nobody's place depends on it, and stopping does not wait for it.
    void maestro.deliverTickets().catch((error: unknown) => {
      if (!this.#isStopped) this.#parts.report(String(error));
    });
  }

  #take(id: SessionId): void {
    const { maestro } = this.#parts;
    const drive = maestro
      .takeUp(id)
      .then(() => {
        this.#notBefore.delete(id);
        this.#said.delete(id);
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
    // Somebody else was quicker, and that is as good.
    const isHeld = LeaseHeld.is(error) || LeaseLost.is(error);
    this.#notBefore.set(id, clock.now() + (isHeld ? heldMs : againMs));
    if (isHeld) return;
    const advice = MaestroError.is(error) && error.advice !== undefined ? ` ${error.advice}` : "";
    const why = `Session ${id} could not be taken up: ${String(error)}${advice} It is tried again every minute; see it with: maestro show ${id}`;
    if (this.#said.get(id) === why) return;
    this.#said.set(id, why);
    report(why);
  }
}
