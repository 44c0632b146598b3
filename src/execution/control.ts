export type StopReason = "pause" | "cancel" | "shutdown";

/** Unwinds a persona's work at its next step. Not a failure: no attempt is used up. */
export class DriverStopped extends Error {
  override readonly name = "DriverStopped";
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`the driver stops: ${reason}`);
    this.reason = reason;
  }
}

/** How everything that runs for one session learns that it has to stop. */
export class Control {
  /** Aborted when work under way should not even be finished. */
  readonly #abort = new AbortController();
  /** Aborted as soon as no new step may begin; ends waits at once. */
  readonly #stop = new AbortController();
  #stopped: DriverStopped | undefined;

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get stopSignal(): AbortSignal {
    return this.#stop.signal;
  }

  get stopped(): DriverStopped | undefined {
    return this.#stopped;
  }

  /** No new step begins; the ones under way are finished and recorded, unless `abort`. */
  stop(reason: StopReason, { abort = false } = {}): void {
    // The first word counts, except that a cancel is final whatever was said before.
    if (this.#stopped === undefined || reason === "cancel") this.#stopped = new DriverStopped(reason);
    this.#stop.abort(this.#stopped);
    if (abort) this.#abort.abort(this.#stopped);
  }

  throwIfStopped(): void {
    if (this.#stopped !== undefined) throw this.#stopped;
  }
}
