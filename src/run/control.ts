import type { Clock } from "../domain/clock.ts";
import { AttemptTimeout, type MaestroError } from "../domain/errors.ts";

// How running work ends other than by itself: a person or a shutdown stops it (Control), it stands still (Watchdog), it
// ignores its signal (Abandonment), or the journal below it fails (Infrastructure). Pending waits for what still runs.

/** `rest`: everything in the session waits, and another one gets its place. `ask`: all of it waits for a person. */
export type StopReason = "pause" | "interrupt" | "cancel" | "shutdown" | "rest" | "ask";

/** Since when everything in a session waits, and when it continues. */
export interface Resting {
  readonly restsSince: number;
  readonly wakeAt: number;
}

/** Unwinds a persona's work at its next step. Not a failure: no attempt is used up. */
export class DriverStopped extends Error {
  override readonly name = "DriverStopped";
  readonly reason: StopReason;
  readonly resting: Resting | undefined;

  /** `cause`: the error that ends the drive; without one, the stop is its end. */
  constructor(reason: StopReason, cause?: MaestroError, resting?: Resting) {
    super(`the driver stops: ${reason}`, cause && { cause });
    this.reason = reason;
    this.resting = resting;
  }
}

/** Tells everything that runs for one session to stop. */
export class Control {
  /** Aborted when work under way should not even be finished. */
  readonly #abort = new AbortController();
  /** Aborted as soon as no new step may begin; ends waits at once. */
  readonly #stop = new AbortController();
  #stopped: DriverStopped | undefined;
  #stepsBegun = 0;

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
  stop(
    reason: StopReason,
    { abort = false, cause }: { readonly abort?: boolean; readonly cause?: MaestroError } = {},
  ): void {
    // The first reason counts, except that a cancel is final, that nothing can be recorded without a database, and that a
    // person outranks a rest and a wait for people.
    const isPause = reason === "pause" || reason === "interrupt";
    const waits = this.#stopped?.reason === "rest" || this.#stopped?.reason === "ask";
    const outranks = reason === "cancel" || cause !== undefined || (isPause && waits);
    if (this.#stopped === undefined || outranks) this.#stopped = new DriverStopped(reason, cause);
    this.#stop.abort(this.#stopped);
    if (abort) this.#abort.abort(this.#stopped);
  }

  /** Only waits are under way; without `resting`, for people. The signal stops code that runs beside them. */
  rest(resting?: Resting): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = new DriverStopped(resting === undefined ? "ask" : "rest", undefined, resting);
    this.#stop.abort(this.#stopped);
    this.#abort.abort(this.#stopped);
  }

  throwIfStopped(): void {
    if (this.#stopped !== undefined) throw this.#stopped;
  }

  /** Grows with every step that the work asks for. */
  get stepsBegun(): number {
    return this.#stepsBegun;
  }

  beginStep(): void {
    this.throwIfStopped();
    this.#stepsBegun += 1;
  }
}

/**
 * The journal, the artifacts, the lease or an open breaker failed. Told apart by where it comes from, not by its class:
 * work may throw any class, and then the work failed. Ends the drive and uses up no attempt.
 */
export class InfrastructureFailure extends Error {
  override readonly name = "InfrastructureFailure";

  constructor(cause: unknown) {
    super("infrastructure failure (journal, artifacts or lease)", { cause });
  }
}

export function infrastructureFailed(cause: unknown): never {
  throw new InfrastructureFailure(cause);
}

/** Remembers the first failure below the work: work that catches it must count neither as finished nor as failed. */
export class Infrastructure {
  #failure: InfrastructureFailure | undefined;

  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  run<T>(operation: Promise<T>): Promise<T> {
    return operation.catch(this.failed);
  }

  /** The handler that `run` adds, for a promise that has one anyway. */
  readonly failed = (cause: unknown): never => {
    // A stop is no failure.
    if (!(cause instanceof DriverStopped)) this.#failure ??= new InfrastructureFailure(cause);
    throw cause;
  };
}

const looksPerLimit = 4;

/**
 * Ends work that makes no progress. Counts looks instead of comparing times, so that a clock that jumps neither ends
 * an attempt nor spares it, and progress costs no timer.
 */
export class Watchdog {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #end = new AbortController();
  #progressed = true;
  #waiting = 0;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  progress(): void {
    this.#progressed = true;
  }

  /** A wait on purpose is no lack of progress. */
  async during<T>(wait: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    try {
      return await wait();
    } finally {
      this.#waiting -= 1;
      this.#progressed = true;
    }
  }

  /** Rejects with AttemptTimeout when the work stands still for the limit; otherwise settles as the work does. */
  async watch<T>(work: Promise<T>, abort: (reason: AttemptTimeout) => void): Promise<T> {
    try {
      return await Promise.race([
        work,
        this.#stall().then((timeout) => {
          abort(timeout);
          throw timeout;
        }),
      ]);
    } finally {
      this.#end.abort();
    }
  }

  async #stall(): Promise<AttemptTimeout> {
    for (let stillFor = 0; stillFor < looksPerLimit; ) {
      this.#progressed = false;
      await this.#clock.sleep(this.#limitMs / looksPerLimit, this.#end.signal);
      stillFor = this.#progressed || this.#waiting > 0 ? 0 : stillFor + 1;
    }
    return new AttemptTimeout(`No progress for ${this.#limitMs / 1_000} s.`, {
      details: { limitMs: this.#limitMs },
      advice:
        "The next attempt resumes from the recorded steps. For longer work, raise timeoutMs or record steps in between.",
    });
  }
}

/** Time for aborted work to end by itself: enough to end a process and its children. */
const patienceMs = 2_000;

/**
 * Settles as the work does. Once the signal is aborted, the work has a moment to end by itself; then this rejects with
 * the signal's reason: code that ignores its signal must not hold up a whole process.
 */
export function orAbandon<T>(work: () => T | Promise<T>, signal: AbortSignal, clock: Clock): Promise<T> {
  const abandonment = new Abandonment(signal, clock);
  return abandonment.run(work).finally(() => abandonment.stopListening());
}

/** Work under way, and its place in the list of all of it. */
class Piece {
  readonly abandon: (reason: unknown) => void;
  at: number;

  constructor(abandon: (reason: unknown) => void, at: number) {
    this.abandon = abandon;
    this.at = at;
  }
}

/** `orAbandon` for many pieces of work under one signal: a listener for each would cost more than recording it. */
export class Abandonment {
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  /** Unordered, and no Set: one that is added to and deleted from for ever keeps in memory what it once held. */
  readonly #underWay: Piece[] = [];
  /** Runs while aborted work may still end by itself; aborted when all of it has. */
  #moment: AbortController | undefined;

  constructor(signal: AbortSignal, clock: Clock) {
    this.#signal = signal;
    this.#clock = clock;
    signal.addEventListener("abort", this.#giveAMoment);
  }

  run<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const working = Promise.resolve(work());
      const piece = new Piece(reject, this.#underWay.length);
      this.#underWay.push(piece);
      if (this.#signal.aborted) this.#giveAMoment();
      working.then(
        (result) => {
          this.#end(piece);
          resolve(result);
        },
        (error: unknown) => {
          this.#end(piece);
          reject(error);
        },
      );
    });
  }

  stopListening(): void {
    this.#signal.removeEventListener("abort", this.#giveAMoment);
  }

  readonly #giveAMoment = (): void => {
    if (this.#underWay.length === 0 || this.#moment !== undefined) return;
    this.#moment = new AbortController();
    this.#clock.sleep(patienceMs, this.#moment.signal).then(
      () => {
        this.#moment = undefined;
        // Work that begins later has a moment of its own.
        for (const { abandon } of this.#underWay.splice(0)) abandon(this.#signal.reason);
      },
      () => undefined,
    );
  };

  #end(piece: Piece): void {
    // It was abandoned before.
    if (this.#underWay[piece.at] !== piece) return;
    const last = this.#underWay.pop() as Piece;
    if (last !== piece) {
      this.#underWay[piece.at] = last;
      last.at = piece.at;
    }
    if (this.#underWay.length > 0) return;
    this.#moment?.abort();
    this.#moment = undefined;
  }
}

/** Counts promises under way, to wait until none is left and none follows. */
export class Pending {
  #count = 0;
  /** Since `settle` last waited. */
  #hasReplayed = false;
  readonly #onQuiet: (() => void)[] = [];

  track<T>(work: Promise<T>): Promise<T> {
    this.#count += 1;
    work.then(this.#forget, this.#forget);
    return work;
  }

  get count(): number {
    return this.#count;
  }

  /** A result was there at once: the code that awaits it may ask for more. */
  noteReplay(): void {
    this.#hasReplayed = true;
  }

  async settle(): Promise<void> {
    while (this.#count > 0 || this.#hasReplayed) {
      this.#hasReplayed = false;
      await new Promise<void>((resolve) => {
        if (this.#count > 0) this.#onQuiet.push(resolve);
        else setImmediate(resolve);
      });
    }
  }

  readonly #forget = (): void => {
    this.#count -= 1;
    if (this.#count > 0 || this.#onQuiet.length === 0) return;
    // The code that awaited the work goes first: it may ask for more.
    for (const resolve of this.#onQuiet.splice(0)) setImmediate(resolve);
  };
}
