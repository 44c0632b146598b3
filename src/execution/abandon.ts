import type { Clock } from "../domain/clock.ts";

/** How long work that was told to stop has to do so: enough to end a process and what it started. */
const patienceMs = 2_000;

/**
 * Settles as the work does. Once the signal is aborted the work has a moment to end by itself; then it is left to
 * itself, and this rejects with the signal's reason: code that ignores its signal must not hold up a whole process.
 */
export function orAbandon<T>(work: () => T | Promise<T>, signal: AbortSignal, clock: Clock): Promise<T> {
  const abandonment = new Abandonment(signal, clock);
  return abandonment.run(work).finally(() => abandonment.stopListening());
}

/** Work under way, and where it stands among all that is. */
class Piece {
  readonly abandon: (reason: unknown) => void;
  at: number;

  constructor(abandon: (reason: unknown) => void, at: number) {
    this.abandon = abandon;
    this.at = at;
  }
}

/** The same for the many pieces of work under one signal: listening anew for each would cost more than recording it. */
export class Abandonment {
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  /** In no order, and no Set: one that is added to and deleted from for ever keeps in memory what it once held. */
  readonly #underWay: Piece[] = [];
  /** What is under way has this moment to end; ends early when everything has. */
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
        // Whatever comes now has a moment of its own.
        for (const { abandon } of this.#underWay.splice(0)) abandon(this.#signal.reason);
      },
      () => undefined,
    );
  };

  #end(piece: Piece): void {
    // Given up before.
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
