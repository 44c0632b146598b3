import type { OfAttempt } from "../journal/journal.ts";
import type { RecordedSteps } from "../journal/recorded-steps.ts";
import { type AttemptState, attemptOf, type PersonaState, personaOf } from "../journal/session-state.ts";
import type { SessionJournal } from "../store/session-journal.ts";

/** An attempt that this process runs: the steps it may replay, and its state as the journal has it now. */
export class ActiveAttempt {
  /** Its own recorded steps, and those it inherited. */
  readonly steps: RecordedSteps;
  /** Steps of an earlier result and of attempts that were given up: an equal call gets the record. */
  readonly earlier: { readonly candidate: RecordedSteps; readonly leftover: RecordedSteps } | undefined;
  readonly of: OfAttempt;
  readonly #journal: SessionJournal;

  private constructor(
    journal: SessionJournal,
    of: OfAttempt,
    steps: RecordedSteps,
    earlier: ActiveAttempt["earlier"],
  ) {
    this.#journal = journal;
    this.of = of;
    this.steps = steps;
    this.earlier = earlier;
  }

  static async open(journal: SessionJournal, of: OfAttempt): Promise<ActiveAttempt> {
    const running = journal.state.running.get(of.started);
    if (running === undefined) throw new Error(`attempt ${of.started} is not running`);
    const steps = await journal.select(running.replays, of.started);
    const { candidate, leftover } = personaOf(journal.state, of.phase, of.persona);
    if (candidate === undefined && leftover.length === 0)
      return new ActiveAttempt(journal, of, steps, undefined);
    return new ActiveAttempt(journal, of, steps, {
      candidate: await journal.select(candidate?.steps ?? []),
      leftover: await journal.select(leftover),
    });
  }

  get attempt(): AttemptState {
    const attempt = attemptOf(this.#journal.state, this.of);
    if (attempt === undefined) throw new Error(`attempt ${this.of.started} is not in the journal`);
    return attempt;
  }

  /** Whether it recorded a step of its work that did not end in an outage. */
  get hasProgressed(): boolean {
    return this.#journal.state.running.get(this.of.started)?.hasProgressed === true;
  }

  /** Since when it waits for a dependency, over all drivers. */
  get waitsSince(): number | undefined {
    return this.#journal.state.running.get(this.of.started)?.waitsSince;
  }

  /** The output at which the answer of this call was cut the last time. */
  cutAt(fingerprint: string): number | undefined {
    return this.#journal.state.running.get(this.of.started)?.cuts?.get(fingerprint);
  }

  get persona(): PersonaState {
    return personaOf(this.#journal.state, this.of.phase, this.of.persona);
  }

  /** Unfinished work of the parent serves until an attempt has failed with it: the next attempt runs its own steps. */
  get candidate(): RecordedSteps | undefined {
    const { candidate, attempts } = this.persona;
    const hasFailed = attempts.some(
      ({ failure }, place) => failure !== undefined && attempts[place + 1]?.continues === undefined,
    );
    return candidate?.result !== undefined || !hasFailed ? this.earlier?.candidate : undefined;
  }
}
