import type { Asks } from "../journal/durable-step.ts";
import type { StepIdentity } from "../journal/recorded-step.ts";
import { unansweredIn, type Word, waitingCall, wordFor } from "../journal/waiting-call.ts";
import type { ActiveAttempt } from "./active-attempt.ts";
import type { Infrastructure, Watchdog } from "./control.ts";
import type { PersonaDrive } from "./drive.ts";
import type { StepFinder } from "./step-finder.ts";

/** One attempt, as its waits see it. */
export interface WaitingPlace {
  readonly running: ActiveAttempt;
  readonly watchdog: Watchdog;
  readonly signal: AbortSignal;
}

/**
 * The calls of one attempt that wait for a person. A call is recorded before it waits, and the answer is a signal: both outlive
 * the process. A word is bound to the identity of the step, so that it never decides about a call that changed.
 */
export class Asking {
  readonly #drive: PersonaDrive;
  readonly #place: WaitingPlace;
  readonly #finder: StepFinder;
  readonly #infrastructure: Infrastructure;
  /** Calls that the work asked for in this process. */
  readonly #own = new Set<number>();

  constructor(drive: PersonaDrive, place: WaitingPlace, finder: StepFinder, infrastructure: Infrastructure) {
    this.#drive = drive;
    this.#place = place;
    this.#finder = finder;
    this.#infrastructure = infrastructure;
  }

  /** Waits without a time limit for a person's answer about this step. */
  async wordOn<T>(
    name: string,
    { kind, call }: Asks<T>,
    { fingerprint, occurrence }: StepIdentity,
  ): Promise<Word> {
    const { journal, control } = this.#drive;
    const { of, persona } = this.#place.running;
    const identity = { fingerprint, occurrence };
    const known = wordFor(journal.state, of, persona.attempts, identity);
    if (known !== undefined) return known;
    control.throwIfStopped();
    const waiting = waitingCall(journal.state, of.started, identity);
    if (waiting !== undefined) {
      this.#own.add(waiting.seq);
      return this.#wait(waiting.seq);
    }
    const replaces = await this.#strangers();
    const row = {
      kind: "call.waiting",
      asks: kind,
      name,
      ...identity,
      call,
      ...(replaces.length > 0 && { replaces }),
      ...of,
    } as const;
    const [recorded] = await this.#infrastructure.run(journal.append([row]));
    const seq = recorded?.seq as number;
    this.#own.add(seq);
    return this.#wait(seq);
  }

  /** Calls of this attempt that an earlier process asked for and this one does not. Parallel steps ask in any order. */
  async #strangers(): Promise<readonly number[]> {
    const find = () =>
      unansweredIn(this.#drive.journal.state).flatMap(({ seq, started }) =>
        started === this.#place.running.of.started && !this.#own.has(seq) ? [seq] : [],
      );
    if (find().length === 0) return [];
    await this.#finder.othersHaveAsked();
    return find();
  }

  /** No time limit of the attempt counts it. */
  #wait(seq: number): Promise<Word> {
    const { waiter } = this.#drive;
    return this.#place.watchdog.during(() =>
      waiter.during(Number.POSITIVE_INFINITY, () => this.#heard(seq), "step"),
    );
  }

  #heard(seq: number): Promise<Word> {
    const { journal, control } = this.#drive;
    const stopSignals = [control.stopSignal, this.#place.signal];
    const { promise, resolve, reject } = Promise.withResolvers<Word>();
    const look = (): void => {
      const word = journal.state.calls.get(seq)?.word;
      if (word !== undefined) resolve(word);
    };
    const stop = (): void => reject(control.stopped ?? this.#place.signal.reason);
    const stopHearing = journal.onReceived(look);
    for (const signal of stopSignals) {
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop);
    }
    look();
    return promise.finally(() => {
      stopHearing();
      for (const signal of stopSignals) signal.removeEventListener("abort", stop);
    });
  }
}
